"""A run whose hosts and reasons say what would act in a terminal, a page or a sheet: it is shown as text."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from support.lying_host import ESCAPES, MARKUP
from support.synthetic_runs import RUN, trial, write_run
from unit.base.test_untrusted import CONTROL

from lab.report import run_report, terminal
from lab.report.page.frame import script
from lab.results import run_folder


def test_a_hostile_run_is_shown_and_reported_as_text(tmp_path: Path) -> None:
    hosts = {side: facts | {"hostname": ESCAPES + MARKUP} for side, facts in RUN["hosts"].items()}
    failed = trial(trial_id="b", status="failed", elapsed_s=None, reason=f"=cmd|'/C calc'!A1 {ESCAPES}{MARKUP}")
    folder = write_run(tmp_path, [trial(), failed], hosts=hosts)
    page = run_report.write(folder).read_text()
    names = ("post.md", "post-appendix.md", "table.csv")
    post, appendix, table = ((folder.report_path / name).read_text() for name in names)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(*terminal.terminal_tables(run_folder.load(folder.path)))
    assert "<script" not in page.replace(f"<script>{script()}</script>", "", 1) + post + appendix
    for text in (page, post, appendix, console.export_text()):
        assert not CONTROL.search(text)
    assert "'=cmd" in table
    assert ",=cmd" not in table
