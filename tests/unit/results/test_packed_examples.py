"""Runs that come with the lab: found by name, unpacked with care, and gone with the object that has them."""

import re
import zipfile
from pathlib import Path

import pytest

from lab.base import shipped
from lab.base.errors import BadInput
from lab.results import examples
from lab.results.packed_run import RUN, SAMPLES, TRIALS, unpack
from lab.results.run_folder import RunFolder, load

NAMES = sorted(shipped.examples())


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def example_of(name: str) -> examples.Example:
    example = examples.find(name)
    assert example
    return example


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_a_real_run_that_ended_and_says_what_it_is(name: str) -> None:
    example = example_of(name)
    assert (example.label, example.path.name, example.run["sweep_file"]) == (name, name, "example")
    assert RunFolder(example.path).label == str(example.path)
    assert (example.run["ended"], bool(example.run["instance"])) == ("complete", True)
    assert "a run that comes with the lab, made in a local lab on one machine" in example.run["title"]
    assert re.match(f"{name}: a run that comes with the lab, .*2 cores of ", example.origin)
    trials = load(example.path)
    assert len(trials) > 100
    assert (trials["status"] == "ok").mean() > 0.9


def test_examples_name_no_folder_of_whoever_made_them() -> None:
    for archive in shipped.examples().values():
        with zipfile.ZipFile(archive) as packed:
            assert {RUN, TRIALS} <= set(packed.namelist()) <= {RUN, TRIALS, SAMPLES}
            text = "".join(packed.read(name).decode() for name in packed.namelist())
        assert not [folder for folder in ("/home", "/work", "/Users") if folder in text]


def test_other_names_are_none_of_them_and_what_is_no_packed_run_is_refused(tmp_path: Path) -> None:
    assert not any(map(examples.find, (None, "exampl", "../example", "./example")))
    Path("example").mkdir()
    Path("example-delay").symlink_to("nowhere")
    assert examples.find("example")
    assert examples.find(Path("example-delay"))
    (tmp_path / "bad.zip").write_bytes(b"no archive")
    with pytest.raises(BadInput, match=r"bad\.zip: not a packed run: .*install the lab anew"):
        unpack(tmp_path / "bad.zip", tmp_path / "bad", "install the lab anew")
