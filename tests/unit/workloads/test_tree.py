"""A tree: made by one command, and found wrong where anything in it is not as it was made."""

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.examples import at_most
from support.fake_host import EmulatedHost

from lab import workloads
from lab.base.errors import CommandError, TransferError
from lab.design.sweep_file import parse_sweep
from lab.workloads import Payload

ROUND = 8388617
TEXT = "d a\nd a/empty\nf 5 a/small\nf 0 a/nothing\nf 700001 large one\nf 9000000 a/rounds\n"


def tree_of(text: str, folder: Path, more: str = "") -> Payload:
    (folder / "tree.txt").write_text(text)
    sweep = f'name = "t"\n[workload]\nkind = "tree"\nmanifest = "tree.txt"\n{more}\n[factors]\nprotocol = ["smb"]\n'
    workload = parse_sweep(sweep, folder / "s.toml").workload
    return workloads.payload("tree").of(workload)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> EmulatedHost:
    return EmulatedHost(tmp_path_factory.mktemp("tree"), {}, ("perl",))


def content(top: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(top)): path.read_bytes() if path.is_file() else None for path in top.rglob("*")}


def test_a_tree_is_what_its_manifest_says(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {}, ("perl",))
    tree, size = tree_of(TEXT, tmp_path), 9700006
    tree.make(host, "top", size, "seed")
    tree.check(host, "top", size, "seed")
    made = content(tmp_path / "top")
    wrong = bytearray(made["a/rounds"] or b"")
    wrong[-1] ^= 1
    (tmp_path / "top" / "a" / "rounds").write_bytes(wrong)
    with pytest.raises(TransferError, match="a/rounds: "):
        tree.check(host, "top", size, "seed")
    sizes = {path: None if data is None else len(data) for path, data in made.items()}
    assert sizes == {
        "a": None, "a/empty": None, "a/small": 5, "a/nothing": 0, "large one": 700001, "a/rounds": 9000000
    }  # fmt: skip
    pages = [data[at : at + 4096] for data in made.values() if data for at in range(0, len(data) - 4095, 4096)]
    assert len(set(pages)) == len(pages)
    whole = b"".join(data for data in made.values() if data)
    assert len(zlib.compress(whole[:ROUND], 1)) >= 0.999 * ROUND


@given(at=st.integers(0, 700000), name=st.sampled_from(["a/small", "large one"]))
@at_most(2, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_wrong_byte_is_found(host: EmulatedHost, at: int, name: str) -> None:
    tree, size = tree_of(TEXT.replace("f 9000000 a/rounds\n", ""), host.folder), 700006
    top = host.folder / "held"
    if not top.exists():
        tree.make(host, "held", size, "seed")
    file = top / name
    right = file.read_bytes()
    wrong = bytearray(right)
    wrong[at % len(wrong)] ^= 1
    for changed in (bytes(wrong), right[:-1], right + b"\0"):
        file.write_bytes(changed)
        with pytest.raises(TransferError, match=f"client: held does not hold what was sent: {name}: "):
            tree.check(host, "held", size, "seed")
    file.write_bytes(right)
    tree.check(host, "held", size, "seed")
    with pytest.raises(TransferError, match="does not hold what was sent"):
        tree.check(host, "held", size, "another seed")


@pytest.fixture(scope="module")
def small(host: EmulatedHost) -> Payload:
    """A small tree, which lies in ``whole``."""
    tree = tree_of("d a\nd a/empty\nf 5 a/small\nf 6 b\n", host.folder)
    tree.make(host, "whole", 11, "seed")
    return tree


@pytest.mark.parametrize(("change", "why"), [
    ("rm top/a/small", "something is missing"),
    ("rmdir top/a/empty", "something is missing"),
    ("touch top/._small", "._small: was not sent"),
    ("touch top/a/empty/more", "a/empty/more: was not sent"),
    ("mv top/a/small top/a/other", "a/small: No such file"),
    ("rm top/a/small; ln -s ../../tree.txt top/a/small", "a/small: is neither folder nor file"),
    ("rm top/a/small; mkfifo top/a/small", "a/small: is neither folder nor file"),
    ("rmdir top/a/empty; touch top/a/empty", "a/empty: no folder"),
])  # fmt: skip
def test_names_are_compared_too(host: EmulatedHost, small: Payload, change: str, why: str) -> None:
    shutil.rmtree(host.folder / "top", ignore_errors=True)
    shutil.copytree(host.folder / "whole", host.folder / "top")
    subprocess.run(["sh", "-c", change], cwd=host.folder, check=True)
    with pytest.raises((TransferError, CommandError)) as caught:
        small.check(host, "top", 11, "seed")
    assert why in str(caught.value)


def test_for_a_second_copy_a_share_of_the_files_changes_and_the_rest_stays(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {}, ("perl",))
    text = "".join(f"f {1000 + number} {number}\n" for number in range(25))
    tree = tree_of(text, tmp_path, "changed = 0.1")
    size = sum(range(1000, 1025))
    assert tree.is_second_copy
    assert (tree.files(size), tree.moved(size)) == (25, 1000 + 1010 + 1020)
    tree.make(host, "top", size, "seed")
    times = {path.name: path.stat().st_mtime for path in (tmp_path / "top").iterdir()}
    first = content(tmp_path / "top")
    with pytest.raises(TransferError, match="0: differs within"):
        tree.check(host, "top", size, "seed")
    tree.change(host, "top", size, "seed")
    second = content(tmp_path / "top")
    tree.check(host, "top", size, "seed")
    changed = {name for name in first if first[name] != second[name]}
    younger = {path.name for path in (tmp_path / "top").iterdir() if path.stat().st_mtime > times[path.name] + 5}
    assert younger == changed == {"0", "10", "20"}
    (tmp_path / "top" / "10").write_bytes(first["10"] or b"")
    with pytest.raises(TransferError, match="10: differs within"):
        tree.check(host, "top", size, "seed")


def test_nothing_is_made_where_something_is_and_a_tree_takes_whole_blocks_of_a_ram_disk(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {}, ("perl",))
    tree = tree_of("f 5 a\n", tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "top").symlink_to("elsewhere")
    with pytest.raises(CommandError, match="top: File exists"):
        tree.make(host, "top", 5, "seed")
    assert not list((tmp_path / "elsewhere").iterdir())
    tree = tree_of("d a\nf 1 a/one\nf 4096 a/two\nf 4097 three\nf 0 empty\n", tmp_path)
    assert tree.files(8194) == 4
    assert tree.room(8194) == (1 + 1 + 2) * 4096 + 2 * 4096
