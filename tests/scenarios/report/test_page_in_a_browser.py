"""The page in a real browser: Debian's Chromium, driven by Playwright, which downloads none."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.runs_to_compare import invent, write_kernel
from support.synthetic_runs import make_trials, trial, write_run

from lab.report import run_report
from lab.report.compared import page as compare_page
from lab.report.compared.comparison import Comparison
from lab.results.examples import Example

NEEDED = "needs requirements-browser.txt: `scripts/setup.sh test` installs it"
sync_api = pytest.importorskip("playwright.sync_api", reason=NEEDED)
axe_files = pytest.importorskip("axe_playwright_python", reason=NEEDED)
pypdf = pytest.importorskip("pypdf", reason=NEEDED)
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: `apt-get install chromium`")

WIDTHS = (320, 820, 1440)
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
ABOUT_COLOURS = ("color-contrast", "link-in-text-block")
MOST_PAGES = 6
# axe takes a minute for thousands of similar rows
SHORTEN = "document.querySelectorAll('tbody tr:nth-child(n + 6)').forEach(row => { row.remove() })"
NO_DRAWN_TEXT = "{exclude: ['.figure text']}"
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"
COURSE = {"client": {"at_s": [0, 1, 2], "tx_bytes": [0, 10**7, 10**8], "core_busy": {"0": [None, 1, 0]}}}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_report.write(Example("example"), tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compared")
    states: list[dict[str, float]] = [{}, {"smb": 1.8, "afp": 0.7}, {}]
    runs = [write_kernel(path, str(at % 2), invent(at, fast), at) for at, fast in enumerate(states)]
    return compare_page.write_comparison(Comparison(runs), path / "page")[-1]


@pytest.fixture(scope="module")
def pages(example: Path, compared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of runs with void and failed trials, with one block, with no trial, and with options."""
    path = tmp_path_factory.mktemp("results")
    options = [
        trial(trial_id=f"{level}-{block}", case_id=level, block=block, protocol="smb", options={"smb.signing": level})
        for level in ("off", "required")
        for block in (1, 2)
    ]
    runs = {"options": options, "one block": [trial()], "empty": [], "void and failed": make_trials()}
    pages = {"example": example, "compared": compared}
    for name, trials in runs.items():
        run = write_run(path / name, trials)
        run.append_samples("b1-001", COURSE)
        pages[name] = run_report.write(run)
    return pages


@contextmanager
def shown(browser: Any, page: Path, events: list[str] | None = None, **settings: Any) -> Iterator[Any]:
    """A page in a window; ``events`` gets the addresses that it asks for, and its complaints."""
    with closing(browser.new_context(**{"viewport": {"width": 820, "height": 900}, **settings})) as context:
        window = context.new_page()
        if events is not None:
            window.on("request", lambda request: events.append(request.url))
            for event in ("console", "pageerror"):
                window.on(event, lambda complaint: events.append(str(complaint)))
        window.goto(page.as_uri())
        yield window


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, {"java_script_enabled": False}], ids=str)
def test_a_page_fits_and_loads_nothing(browser: Any, pages: dict[str, Path], settings: dict[str, Any]) -> None:
    for name, page in pages.items():
        events: list[str] = []
        with shown(browser, page, events, **settings) as window:
            if settings.get("java_script_enabled", True):
                window.evaluate(OPEN_ALL)
            for width in WIDTHS:
                window.set_viewport_size({"width": width, "height": 900})
                sizes = window.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                assert sizes[0] <= sizes[1] == width, name
        assert [event for event in events if not event.startswith("data:image/png")] == [page.as_uri()], name


def test_where_a_figure_is_wider_than_the_screen_its_caption_says_so(browser: Any, example: Path) -> None:
    """On a narrow screen a forest plot shows no mark of its first rows, and would not tell that there is more."""
    caption = "getComputedStyle(document.querySelector('#changes figcaption'), '::before').content"
    wide = "Array.from(document.querySelectorAll('#changes .scroll')).some(box => box.scrollWidth > box.clientWidth)"
    for width in WIDTHS:
        with shown(browser, example, viewport={"width": width, "height": 900}) as window:
            says, is_wide = "scroll it sideways" in window.evaluate(caption), window.evaluate(wide)
            assert (says, is_wide) == (width == 320, width == 320)


@pytest.mark.parametrize("name", ["example", "options", "empty", "compared"])
def test_axe_finds_no_violation(browser: Any, pages: dict[str, Path], name: str) -> None:
    """axe cannot judge text in drawings, and takes a minute to say so: the test below checks such text."""
    axe = (Path(axe_files.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    with shown(browser, pages[name], color_scheme="light", viewport={"width": 320, "height": 900}) as window:
        window.evaluate(OPEN_ALL)
        window.evaluate(SHORTEN)
        window.evaluate(axe)
        # dark paper changes only colours
        for scheme, only, least in (("light", TAGS, 31), ("dark", ABOUT_COLOURS, 1)):
            window.emulate_media(color_scheme=scheme)
            judged = window.evaluate(f"axe.run({NO_DRAWN_TEXT}, {{runOnly: {json.dumps(only)}}})")
            assert len(judged["passes"]) >= least
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in judged["violations"]] == []


def test_text_in_figures_and_around_can_be_read(browser: Any, example: Path) -> None:
    """Text in an SVG has the colours of the page, whose contrast to the paper is 4.5."""
    for scheme, ink in (("light", "rgb(34, 34, 34)"), ("dark", "rgb(232, 232, 232)")):
        with shown(browser, example, color_scheme=scheme) as window:
            window.evaluate(OPEN_ALL)
            fill = "Array.from(document.querySelectorAll('.figure text')).map(text => getComputedStyle(text).fill)"
            assert ink in set(window.evaluate(fill))
            assert "rgb(0, 0, 0)" not in set(window.evaluate(fill))


def test_a_report_prints_on_few_pages_with_every_question(browser: Any, example: Path, tmp_path: Path) -> None:
    for scheme in ("light", "dark"):
        with shown(browser, example, color_scheme=scheme) as window:
            window.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
        printed = pypdf.PdfReader(tmp_path / "page.pdf").pages
        assert len(printed) <= MOST_PAGES
        text = " ".join(page.extract_text() for page in printed)
        assert "The answer" in text
        assert "How far can it be trusted?" in text


def test_without_a_script_every_row_and_mark_is_there(browser: Any, example: Path) -> None:
    with shown(browser, example, java_script_enabled=False) as window:
        html = example.read_text(encoding="utf-8")
        assert window.locator("tbody tr").count() == html.count("<tr>") - html.count("<thead>")
        assert window.locator(".mark[tabindex='0']").count() == html.count('class="mark"')
        assert window.locator(".filter, thead button").count() == 0


def test_a_table_is_sorted_and_filtered(browser: Any, example: Path) -> None:
    with shown(browser, example) as window:
        window.locator("#trials > summary").click()
        rows = "Array.from(document.querySelectorAll('#trials tbody tr:not([hidden])'))"
        speeds = f"{rows}.map(row => row.cells[%d].textContent)"
        headings = window.locator("#trials thead th").all_inner_texts()
        column = next(at for at, text in enumerate(headings) if text.startswith("MB/s"))
        for sign in (1, -1):
            window.locator("#trials").get_by_role("button", name="MB/s", exact=True).click()
            values = [sign * float(text) for text in window.evaluate(speeds % column)]
            assert len(values) > 100
            assert values == sorted(values)
        window.locator("#trials").get_by_label("protocol").select_option("SMB")
        assert set(window.evaluate(speeds % 0)) == {"SMB"}
        kept = len(window.evaluate(speeds % 0))
        assert window.locator("#trials output").inner_text().startswith(f"{kept} of ")


def test_the_keyboard_reaches_each_mark_and_shows_its_value(browser: Any, example: Path) -> None:
    with shown(browser, example) as window:
        marks = window.locator("#fastest .mark")
        marks.first.focus()
        values = []
        for _ in range(marks.count()):
            tip = window.locator(".mark:focus .tip")
            assert tip.is_visible()
            values.append(tip.inner_html())
            window.keyboard.press("ArrowRight")
        assert len(set(values)) == marks.count() == 28
        assert all("MB/s (95 % interval " in value for value in values)
        window.keyboard.press("Tab")
        assert window.locator("#fastest .mark:focus").count() == 0


def test_a_page_of_compared_runs_has_marks_with_words_and_tables_that_sort(browser: Any, compared: Path) -> None:
    with shown(browser, compared) as window:
        marks = window.locator("#changes .mark")
        marks.first.focus()
        assert "B is 1.0" in window.locator(".mark:focus .tip").inner_html()
        window.evaluate(OPEN_ALL)
        table = window.locator("table", has_text="B over A, by case")
        table.get_by_role("button", name="times as fast", exact=True).click()
        ratios = [float(text.split()[0]) for text in table.locator("tbody td:nth-child(7)").all_inner_texts()]
        assert len(ratios) == 12
        assert ratios == sorted(ratios)


def test_the_data_is_saved_without_a_network(browser: Any, example: Path, tmp_path: Path) -> None:
    with shown(browser, example, accept_downloads=True) as window:
        window.locator("#trials > summary").click()
        for kind in ("CSV", "JSON"):
            with window.expect_download() as download:
                window.get_by_text(f"Save as {kind}").click()
            download.value.save_as(tmp_path / kind)
        values = json.loads((tmp_path / "JSON").read_text())
        assert len((tmp_path / "CSV").read_text().splitlines()) == len(values["data"]) + 1
        protocols = {row[values["columns"].index("protocol")] for row in values["data"]}
        assert protocols == {"afp", "link", "nfs", "smb", "ssh"}
