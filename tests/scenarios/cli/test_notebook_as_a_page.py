"""A notebook on a run, executed and written as a page."""

from __future__ import annotations

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
