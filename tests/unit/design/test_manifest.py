"""Manifests: what is written is read again, a sample has just so many bytes, and what no tree can be is refused."""

import base64
import unicodedata
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.paths import LINUX_CAPTURES

from lab.base.errors import BadInput
from lab.design.manifest import Manifest, TreeFile, of_files, parse_manifest, read_manifest

PLACE = Path("tree.txt")
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"], exclude_characters="/"), min_size=1)
PATHS = st.lists(NAMES.filter(lambda name: name not in (".", "..")), min_size=1, max_size=3).map("/".join)
NO_PATHS = ("a", "/w==", base64.b64encode(b"../up").decode())


def folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def parsed(text: str) -> Manifest:
    return parse_manifest(text, PLACE)


@given(paths=st.lists(PATHS, min_size=1, max_size=8), sizes=st.lists(st.integers(0, 2**40), min_size=8, max_size=8))
@at_most(60)
def test_what_is_written_is_read_again(paths: list[str], sizes: list[int]) -> None:
    manifest = of_files(map(TreeFile._make, zip([1, *sizes], paths, strict=False)))
    clash = any(path != other and folded(path).startswith(folded(other)) for path in paths for other in paths)
    with suppress(BadInput) if clash or len(set(paths)) < len(paths) else nullcontext():
        assert parsed(manifest.text()) == manifest


@given(text=st.text(st.sampled_from("df 019/.\\#=\n\t\0é"), max_size=60))
@at_most(200)
def test_any_text_is_a_manifest_or_refused(text: str) -> None:
    with suppress(BadInput):
        assert parsed(text).size_bytes > 0


def test_tree_files_of_both_scanners_of_elbencho_are_read_and_written_in_base64_if_need_be() -> None:
    text = "# scanned\n\nd photos\nd photos/2024\nf 0 empty\nf 4096 photos/2024/a b.jpg\n"
    manifest = parsed(text)
    assert manifest.folders == ("photos", "photos/2024")
    assert manifest.files == (TreeFile(0, "empty"), TreeFile(4096, "photos/2024/a b.jpg"))
    assert manifest.text() == text.removeprefix("# scanned\n\n")
    assert of_files([TreeFile(7, "a b/c d")]).text() == "d a b\nf 7 a b/c d\n"
    manifest = of_files([TreeFile(7, " a")])
    assert manifest.text() == f"# encoding=base64\nf 7 {base64.b64encode(b' a').decode()}\n"
    assert parsed(manifest.text()) == manifest
    trees = [parsed((LINUX_CAPTURES / f"elbencho-3.1-{name}.txt").read_text()) for name in ("treescan", "scan-path")]
    of_base64, of_text = ({file.path: file.size_bytes for file in tree.files} for tree in trees)
    assert of_base64.pop("ü/ x ") == of_text.pop("ü/ x") == 1
    assert of_base64 == of_text
    assert (len(of_text), trees[0].size_bytes, sorted(trees[0].folders)) == (11, 626656, ["a b", "c", "c/d", "ü"])


REFUSED = {  # lines after `d folder` and `f 5 first`
    "'/etc/passwd' is absolute": ["f 1 /etc/passwd"],
    "has a part that is empty, . or ..": ["f 1 ../up", "f 1 a/../../up", "f 1 a//b", "d a/", "f 1 ./a"],
    "has a control character": ["f 1 a\0b", "f 1 a\x1bb"],
    "is too long: at most 255 bytes a name, 700 in all": [
        f"f 1 {'n' * 256}", f"f 1 {'é' * 128}", f"f 1 {'/'.join(['n' * 100] * 8)}"
    ],
    "first comes twice": ["f 1 first"], "folder comes twice": ["d folder"],
    "First and first are one name to many file systems": ["f 1 First"],
    "first is a file and a folder": ["f 1 first/inside", "d first"], "folder is a file and a folder": ["f 1 folder"],
    "have more than any disk holds": ["f 9223372036854775807 large"],
    "is none of d PATH, f BYTES PATH and # COMMENT": [
        "f 99999999999999999999 large", "f -1 negative", "f a", "l 1 link"
    ],
}  # fmt: skip


@pytest.mark.parametrize(("line", "why"), [(line, why) for why, lines in REFUSED.items() for line in lines])
def test_what_no_tree_can_be_is_refused_with_file_and_line(line: str, why: str) -> None:
    with pytest.raises(BadInput, match=r"tree\.txt: line 3: ") as caught:
        parsed(f"d folder\nf 5 first\n{line}\n")
    assert why in caught.value.message


@pytest.mark.parametrize("text", ["", "d a\n", "f 0 a\n", *(f"# encoding=base64\nf 1 {path}\n" for path in NO_PATHS)])
def test_a_tree_without_a_byte_or_with_no_base64_of_a_path_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"tree\.txt: " + ("line 2: " if "base64" in text else "no file with")):
        parsed(text)


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file: `lab workload record FOLDER FILE` makes one"):
        read_manifest(tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"f 1 \xe9\n")
    with pytest.raises(BadInput, match="latin: cannot be read"):
        read_manifest(tmp_path / "latin")
    (tmp_path / "link").symlink_to(tmp_path / "latin")
    with pytest.raises(BadInput, match=r"link: cannot be read: .*it is a link"):
        read_manifest(tmp_path / "link", links=False)


@given(sizes=st.lists(st.integers(0, 5000), min_size=1, max_size=40).filter(any), data=st.data())
@at_most(100)
def test_a_sample_has_just_so_many_bytes_and_no_file_that_was_not_there(sizes: list[int], data: st.DataObject) -> None:
    manifest = of_files(TreeFile(size, f"{number % 3}/{number}") for number, size in enumerate(sizes))
    wanted_bytes = data.draw(st.integers(1, sum(sizes)))
    sample = manifest.sample(wanted_bytes)
    assert sample.size_bytes == wanted_bytes
    assert parsed(sample.text()) == sample
    assert {file.path for file in sample.files} <= {file.path for file in manifest.files}
    assert manifest.sample(wanted_bytes) == sample


def test_a_sample_keeps_the_shares_of_small_and_large_files() -> None:
    manifest = of_files([TreeFile(1000 if number % 10 else 90_000, str(number)) for number in range(1000)])
    sample = manifest.sample(manifest.size_bytes // 10)
    assert len(sample.files) == 100
    assert sum(file.size_bytes > 50_000 for file in sample.files) == 10
