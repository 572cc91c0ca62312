"""Pages of the run that comes with the lab: an executed notebook, and the run beside the published tables."""

import os
from pathlib import Path

import pytest
from support.commands import lab, write
from support.paths import ROOT

pytestmark = pytest.mark.usefixtures("empty_place")


def test_a_notebook_is_written_as_a_page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the kernel
    monkeypatch.setattr(os, "environ", os.environ.copy())
    write("mine.ipynb", "not looked at")
    code, out, err = lab(capsys, "notebook", "design", "example", "--export", "page.html")
    assert (code, out, err[:8]) == (0, "page.html\n", "example:")
    assert "blocks for ±3 %" in Path("page.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in Path().iterdir()) == ["mine.ipynb", "page.html"]
    assert "no such folder" in lab(capsys, "notebook", "design", "example", "--export", "nowhere/page.html")[2]


def test_the_page_of_published_tables_has_them_and_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lab(capsys, "compare", "published", "example", "--to", tmp_path)[0] == 0
    page, post = ((tmp_path / name).read_text() for name in ("compare.html", "compare.md"))
    for text in (page, post):
        assert "network-3 (oceansidecoding" in text
        assert "B has 8 of the 146 published figures." in text
    drawn = (tmp_path / "figures" / "changes.svg").read_text()
    assert drawn.count('class="mark"') == 4
    assert "network-3, NFS cp write, TCP 512 KiB, against AFP: -56.4 % as published, -" in drawn
    assert (tmp_path / "figures" / "times-as-fast.svg").read_text().count('class="mark"') == 8
