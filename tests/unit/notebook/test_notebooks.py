"""The notebooks that come with the lab, executed as whoever opens one does, and written as pages."""

from __future__ import annotations

import importlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.one_sided_runs import blocks, read, seen, write_measured
from support.paths import ROOT
from support.synthetic_runs import RUN, make_trials, write_run

from lab.base import shipped
from lab.base.errors import LabFailure
from lab.notebook import export, open_chosen, self_check
from lab.notebook.explore import answer_of

NAMES = sorted(shipped.notebooks())
# How many figures each shows, and what it says of the example
SHOWN: dict[str, tuple[int, Any]] = {
    "start": (2, "Fastest write  too close to call between 2 of 14 cases"),
    "explore": (7, "TCP buffer 64 KiB → 512 KiB"),
    "why-slow": (2, "Of 28 cases: TCP buffer 14"),
    "compare": (1, "1 ms of delay each way"),
    "answers-2011": (0, "-90.57, right -56.4"),
    "is-it-true": (1, "40 made-up runs of 6 blocks of a setting against itself"),
    "design": (1, "blocks for ±3 %"),
}
LOADING = ("src", "href", "srcset", "data", "action", "poster", "background")


class Loaded(HTMLParser):
    """What a page would fetch, or run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.pictures += tag == "img"
        self.addresses += [value or "" for name, value in attrs if name in LOADING]


def read_page(page: str) -> Loaded:
    loaded = Loaded()
    loaded.feed(page)
    return loaded


@pytest.fixture(autouse=True)
def _by_this_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels have the lab of this checkout, and no run is chosen."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("LAB_RUN", "LAB_OTHER_RUN", "LAB_NAMES"):
        monkeypatch.delenv(name, raising=False)


def outputs_of(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def assert_quiet(notebook: Any) -> None:
    assert not [out for out in outputs_of(notebook) if out.output_type == "error" or out.get("name") == "stderr"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    notebook = export.read(shipped.notebooks()[name])
    importlib.import_module("nbformat").validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert max(len(cell.source.splitlines()) for cell in code) <= 6  # logic is in lab.notebook, with tests of its own


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_on_what_comes_with_the_lab_and_its_page_fetches_nothing(name: str, tmp_path: Path) -> None:
    figures, text = SHOWN[name]
    notebook = export.execute(export.read(shipped.notebooks()[name]), tmp_path)
    assert_quiet(notebook)
    assert list(tmp_path.iterdir()) == []
    page = export.page(notebook)
    loaded = read_page(page)
    assert loaded.pictures == figures
    assert text in page
    assert not {"script", "link", "iframe", "object", "embed", "form", "base"} & set(loaded.tags)
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in loaded.addresses)
    assert not re.search(r"@import|url\(", page)
    assert "default-src 'none'" in page
    assert "lab-public-" not in page
    assert str(Path.home()) not in page
    if name == "is-it-true":
        printed = "".join(output.get("text", "") for output in outputs_of(notebook))
        assert printed == self_check.report_placebo(self_check.simulate(change_pct=0, runs=40)) + "\n"


def test_the_page_says_the_same_as_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is that of the notebook, and the run lies above it."""
    folder = write_run(tmp_path / "results", make_trials(2, combinations=[("afp", "cp")]))
    below = tmp_path / "notebooks"
    below.mkdir()
    monkeypatch.setenv("LAB_RUN", f"results/{folder.path.name}")
    notebook = export.execute(export.read(shipped.notebooks()["explore"]), below)
    assert_quiet(notebook)
    shown = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs_of(notebook))
    assert folder.path.name in shown
    monkeypatch.chdir(below)
    assert answer_of(open_chosen())._repr_html_() in shown
    assert "void" in shown


def test_a_notebook_runs_on_what_the_client_alone_saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_measured(tmp_path, blocks([seen(), read()], 3))
    monkeypatch.setenv("LAB_RUN", str(folder.path))
    notebook = export.execute(export.read(shipped.notebooks()["explore"]), ROOT)
    assert_quiet(notebook)
    assert "Factor: nothing to pick from in this run" in export.page(notebook)


def test_a_page_has_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {role: facts | {"hostname": "marsgate"} for role, facts in RUN["hosts"].items()}
    trials = make_trials(2, combinations=[("afp", "cp")])
    folder = write_run(tmp_path, trials, hosts=hosts, title="marsgate to its nas", names={"host": ["marsgate"]})
    monkeypatch.setenv("LAB_RUN", str(folder.path))
    notebook = export.read(shipped.notebooks()["design"])
    page = export.page(export.execute(notebook, tmp_path))
    assert "host-1 to its nas" in page
    assert "marsgate" not in page


def test_a_cell_that_fails_is_told_and_leaves_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RUN", "no-such-run")
    with pytest.raises(LabFailure, match="the notebook stopped: no-such-run: not a run folder"):
        export.export(shipped.notebooks()["design"], tmp_path / "page.html", tmp_path)
    assert list(tmp_path.iterdir()) == []
