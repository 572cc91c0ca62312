"""No hosts file is read from among results, whatever it is called and however it is reached."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.hostile_runs import attacked_run, change_line
from support.input_files import SWEEP
from support.open_runs import RunLab, hosts_file

from lab.base.errors import BadInput
from lab.hosts.hosts_file import load_hosts

pytestmark = pytest.mark.usefixtures("empty_place")


@pytest.mark.parametrize(
    "argv",
    [["check"], ["restore"], ["restore", "RUN", "--trust"], ["run", "--resume", "RUN", "--trust"],
     ["run", "sweep.toml"], ["plan", "sweep.toml"]],
    ids=" ".join,
)  # fmt: skip
def test_a_hosts_file_among_results_is_not_read_if_named(run_lab: RunLab, bait: Path, argv: list[str]) -> None:
    path = attacked_run(bait, change_line())
    Path("sweep.toml").write_text(SWEEP)
    words = [str(path) if word == "RUN" else word for word in argv]
    code, _, err = run_lab(*words, "--hosts", path / "hosts.ini")
    assert (code in (1, 2), "among results, and those may be somebody else's: it is not read" in err) == (True, True)


def by_link(target: Path) -> Path:
    Path("hosts.link").symlink_to(target)
    return Path("hosts.link")


def by_linked_folder(target: Path) -> Path:
    Path("innocent").symlink_to(target.parent)
    return Path("innocent/hosts.ini")


def by_dots(target: Path) -> Path:
    Path("sub").mkdir()
    return Path("sub/..") / target.parent / "../.." / target


def in_a_folder_of_it(target: Path) -> Path:
    folder = target.parent / "report/more"
    folder.mkdir(parents=True)
    return target.rename(folder / "hosts.ini")


def beside_the_runs(target: Path) -> Path:
    return target.rename(target.parent.parent / "hosts.ini")


def in_results_elsewhere(target: Path, name: str) -> Path:
    """The file systems of a Mac fold case, even that of the long s."""
    Path("elsewhere").mkdir()
    beside_the_runs(target)
    return Path("results").rename(Path("elsewhere") / name) / "hosts.ini"


def in_a_run_with_a_journal_alone(target: Path) -> Path:
    (target.parent / "run.json").rename(target.parent / "journal.jsonl")
    return in_a_run_elsewhere(target)


def in_a_run_elsewhere(target: Path) -> Path:
    return target.parent.rename("Download") / "hosts.ini"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts")
def test_results_that_are_mounted_elsewhere_are_results(bait: Path) -> None:
    """A mount is no link, and its name says nothing: neither does that in which a Mac's file system folds case."""
    beside_the_runs(attacked_run(bait) / "hosts.ini")
    Path("innocent").mkdir()
    subprocess.run(["mount", "--bind", "results", "innocent"], check=True)
    try:
        with pytest.raises(BadInput, match="among results"):
            load_hosts(Path("innocent/hosts.ini"))
    finally:
        subprocess.run(["umount", "innocent"], check=True)


def in_results_of_another_name(target: Path) -> Path:
    Path("results").rename("runs")
    Path("results").symlink_to("runs")
    Path("runs", target.parent.name, "hosts.ini").rename("runs/hosts.ini")
    return Path("runs/hosts.ini")


@pytest.mark.parametrize(
    "move",
    [Path, Path.absolute, by_link, by_linked_folder, by_dots, in_a_folder_of_it, beside_the_runs,
     *(partial(in_results_elsewhere, name=name) for name in ("Results", "RESULTS", "re\u017fults")),
     in_results_of_another_name, in_a_run_elsewhere, in_a_run_with_a_journal_alone],
)  # fmt: skip
def test_whatever_it_is_called_a_hosts_file_among_results_is_not_read(bait: Path, move: Callable[[Path], Path]) -> None:
    path = move(attacked_run(bait) / "hosts.ini")
    with pytest.raises(BadInput, match="among results"):
        load_hosts(path)


def test_results_in_a_name_alone_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "Results/project"
    folder.mkdir(parents=True)
    assert load_hosts(hosts_file(folder / "hosts.ini")).client.host == "mac.example"
