"""The notebooks that come with the lab, executed, and what their pages would fetch."""

import re
from pathlib import Path
from typing import Any

import pytest

from lab.base import shipped
from lab.notebook import export, self_check
from support.paths import ROOT
from support.rendered import Page

# Number of figures, and a text about the example
SHOWN: dict[str, tuple[int, Any]] = {
    "start": (2, "Fastest write  too close to call between 2 of 14 cases"),
    "explore": (7, "TCP buffer 64 KiB → 512 KiB"),
    "why-slow": (2, "Of 28 cases: TCP buffer 14"),
    "compare": (1, "1 ms of delay each way"),
    "answers-2011": (0, "-90.57, right -56.4"),
    "is-it-true": (1, "40 made-up runs of 6 blocks of a setting against itself"),
    "design": (1, "blocks for ±3 %"),
}


@pytest.fixture(autouse=True)
def by_this_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels use the lab of this checkout, and no run is chosen."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("LAB_RUN", "LAB_OTHER_RUN", "LAB_NAMES", "LAB_FOLDER"):
        monkeypatch.delenv(name, raising=False)


def outputs_of(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def assert_quiet(notebook: Any) -> None:
    assert not [out for out in outputs_of(notebook) if out.output_type == "error" or out.get("name") == "stderr"]


def assert_runs_on_what_comes_with_the_lab(name: str, directory: Path) -> None:
    """A notebook runs in an empty folder; its page shows what it should and fetches nothing."""
    figures, text = SHOWN[name]
    notebook = export.execute(export.read(shipped.notebooks()[name]), {"LAB_FOLDER": str(directory)})
    assert_quiet(notebook)
    assert list(directory.iterdir()) == []
    page = export.page(notebook)
    loaded = Page(page, is_strict=False)
    assert loaded.tags.count("img") == figures
    assert text in page
    assert not {"script", "link", "iframe", "object", "embed", "form", "base"} & set(loaded.tags)
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in loaded.links)
    assert not re.search(r"@import|url\(", page)
    assert "default-src 'none'" in page
    assert "lab-public-" not in page
    assert str(Path.home()) not in page
    if name == "is-it-true":
        printed = "".join(output.get("text", "") for output in outputs_of(notebook))
        assert printed == self_check.report_placebo(self_check.simulate(change_pct=0, runs=40)) + "\n"
