"""The page of what is assumed of Macs: its tables follow from files of real Macs, and of no others."""

from pathlib import Path

import pytest
from assumption_pages import ASSUMPTIONS, assumptions_page

from lab.check.hardware_file import EMULATED, Entry, SharedHost, render

FACTS = {"lab": "0.1.0", "system": "macOS 15.5 (24F74)", "model": "Mac16,10", "cpu": "Apple M4"}
ENTRIES = [
    Entry("assumption", "perl", "as assumed", {"assumed": ASSUMPTIONS["perl"].expected}, ["there"]),
    Entry("assumption", "pwpolicy", "differs", {"assumed": ASSUMPTIONS["pwpolicy"].expected}, ["SMB-NTLM"]),
    Entry("assumption", "load-when-off", "as assumed", {"try": "…"}, ["it ran"]),
    Entry("assumption", "tcp-settings", "as assumed", {"assumed": "what was expected last year"}),
    Entry("assumption", "nfsd-status", "not told"),
    Entry("assumption", "of-tomorrow", "as assumed"),
]


def page(folder: Path, facts: dict[str, str], entries: list[Entry] | None = None) -> dict[str, str]:
    host = SharedHost("client", facts, ENTRIES if entries is None else entries)
    (folder / "a.txt").write_text(render([host, SharedHost("server", {"system": "Debian GNU/Linux 13"})]))
    lines = "\n".join(assumptions_page(folder)).splitlines()
    return {line.split("|")[1].strip(): line for line in lines if line.startswith("|")}


def test_a_real_mac_has_a_row_and_stands_with_what_it_was_asked(tmp_path: Path) -> None:
    rows = page(tmp_path, FACTS)
    assert rows["1"] == "| 1 | Mac16,10 | macOS 15.5 (24F74) | 2 | `pwpolicy` |"
    assert rows["`perl`"].endswith("| asked | 1 |")
    assert rows["`load-when-off`"].endswith("| 1 |")
    assert rows["`pwpolicy`"].endswith("| **not on 1** |")
    assert rows["`tcp-settings`"].endswith("| – |")
    assert "2" not in rows


MARKS = {"emulated": EMULATED, "cpu": "EMULATED on AMD", "model": "EmulatedMac1,1", "kernel": "emulated"}


@pytest.mark.parametrize("mark", MARKS)
def test_an_emulated_mac_has_none_by_any_one_of_its_marks(tmp_path: Path, mark: str) -> None:
    rows = page(tmp_path, FACTS | {mark: MARKS[mark]})
    assert "1" not in rows
    assert {row.split("|")[-2].strip() for name, row in rows.items() if name.startswith("`")} == {"–"}


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.txt: .*form"):
        page(tmp_path, FACTS | {"model": "<script>"})
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"a\.txt: line 1"):
        list(assumptions_page(tmp_path))


def test_the_worst_stands_first(tmp_path: Path) -> None:
    names = [name.strip("`") for name in page(tmp_path, FACTS) if name.startswith("`")]
    assert names == list(ASSUMPTIONS)
    order = ["perl", "hfs-writing", "load-when-off", "sharing-add", "servers-read", "pwpolicy", "link-back"]
    assert [name for name in names if name in order] == order
