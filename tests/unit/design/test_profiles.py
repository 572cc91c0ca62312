"""Profiles: just so many bytes, the same tree everywhere, and the distributions that they are said to have."""

import re
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most

from lab.base.errors import BadInput
from lab.design.manifest import MOST_ENTRIES, parse_manifest
from lab.design.profiles import PROFILES, manifest_of
from lab.design.sweep_file import Sweep, parse_sweep

MIB = 1 << 20
PLACE = Path("s.toml")


def sweep(workload: str, path: Path = PLACE) -> Sweep:
    return parse_sweep(f'name = "try"\n[workload]\nkind = "tree"\n{workload}\n[factors]\nprotocol = ["smb"]\n', path)


@given(profile=st.sampled_from(sorted(PROFILES)), size_bytes=st.integers(1, 4 * MIB))
@at_most(30)
def test_a_tree_of_a_profile_has_just_so_many_bytes_and_can_be_in_a_file(profile: str, size_bytes: int) -> None:
    manifest = PROFILES[profile].manifest(size_bytes)
    assert manifest.size_bytes == size_bytes
    assert min(file.size_bytes for file in manifest.files) > 0
    assert parse_manifest(manifest.text(), PLACE) == manifest


def test_a_profile_is_the_same_tree_in_every_version_of_python_with_the_sizes_of_its_source() -> None:
    digests = {name: profile.manifest(32 * MIB).digest[:8] for name, profile in PROFILES.items()}
    assert digests == {"photos": "1648e7cd", "source-tree": "2c0ed6d2", "mail": "4c99b658", "video": "282113d8"}
    sizes = [file.size_bytes for file in manifest_of("source-tree", 256 * MIB).files]
    assert statistics.median(sizes) == pytest.approx(1644, rel=0.1)
    assert statistics.mean(sizes) == pytest.approx(9951, rel=0.1)
    mails = manifest_of("mail", 64 * MIB)
    assert statistics.mean(file.size_bytes for file in mails.files) == pytest.approx(16 * 1024, rel=0.05)
    assert len(mails.files) / (len(mails.folders) + 1) == pytest.approx(1000, rel=0.3)


def test_a_sweep_has_a_profile_or_a_manifest_and_a_file_has_neither(tmp_path: Path) -> None:
    assert sweep('profile = "mail"\nsize = "1 MiB"').workload.label == "tree mail"
    assert sweep('profile = "mail"\nsize = "1 MiB"\nchanged = "1/100"').workload.label == "tree mail, 1 % changed"
    (tmp_path / "tree.txt").write_text("f 5 a\nf 7 b/c\n")
    whole = sweep('manifest = "tree.txt"', tmp_path / "s.toml").workload
    assert (whole.planned_size, whole.tree(12).size_bytes) == (12, 12)
    assert whole.label == f"tree {whole.tree(12).digest[:8]}"
    part = sweep('manifest = "tree.txt"\nsize = "7 B"', tmp_path / "s.toml").workload
    assert (part.planned_size, part.tree(7).size_bytes) == (7, 7)
    with pytest.raises(BadInput, match=r"\[workload\] size: 13 bytes: tree.txt has only 12"):
        part.tree(13)


@pytest.mark.parametrize(
    ("workload", "why"),
    [
        ('size = "1 MiB"', "give a tree either a profile"), ('profile = "mail"', "give either size"),
        ('profile = "mail"\nmanifest = "m"\nsize = "1 MiB"', "give a tree either a profile"),
        ('profile = "mails"\nsize = "1 MiB"', "is no kind of tree; there are photos, source-tree, mail, video"),
        ('profile = "mail"\nseconds = 3\nchanged = 0.01', "what moves are the changed files; give the size"),
        ('manifest = "m"\nseconds = 3', "a manifest has a size of its own"),
        ('manifest = "none.txt"', "none.txt: no such file"),
    ],
)  # fmt: skip
def test_what_makes_no_tree_is_refused(workload: str, why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        sweep(workload)


def test_profile_and_manifest_are_of_trees() -> None:
    text = 'name = "try"\n[workload]\nprofile = "mail"\nsize = "1 MiB"\n[factors]\nprotocol = ["smb"]\n'
    for key in ('profile = "mail"', 'manifest = "m"', "changed = 0.5"):
        with pytest.raises(BadInput, match='are of kind = "tree", and this is "file"'):
            parse_sweep(text.replace('profile = "mail"', key), PLACE)


def test_a_tree_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_ENTRIES == 500_000
    monkeypatch.setattr("lab.design.profiles.MOST_ENTRIES", 5000)
    workload = sweep('profile = "source-tree"\nsize = "1 TiB"').workload
    with pytest.raises(BadInput, match=r"\[workload\] size: a tree source-tree of that size has more than 2,500 files"):
        workload.tree(workload.planned_size)
