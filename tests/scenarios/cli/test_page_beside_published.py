"""The page of a run beside the published tables, with what its figures draw."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import lab


def test_the_page_of_published_tables_has_them_and_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lab(capsys, "compare", "published", "example", "--to", tmp_path)[0] == 0
    page, post = ((tmp_path / name).read_text() for name in ("compare.html", "compare.md"))
    for text in (page, post):
        assert "network-3 (oceansidecoding" in text
        assert "In 1 B changed the other way, beyond chance: SMB cp read, TCP 512 KiB, against AFP." in text
    drawn = (tmp_path / "figures" / "changes.svg").read_text()
    assert drawn.count('class="mark"') == 4
    assert "network-3, NFS cp write, TCP 512 KiB, against AFP: -56.4 % as published, -42.6 % in B" in drawn
    assert (tmp_path / "figures" / "times-as-fast.svg").read_text().count('class="mark"') == 8
