"""Every table of every run that was kept is whole on screens of every width."""

import gzip
from pathlib import Path

import pytest
from support.paths import RUN_CAPTURES
from support.rendered import rendered

from lab.report import registry, terminal
from lab.report.analysis import Analysis
from lab.report.fitted_table import FittedTable
from lab.results import run_folder

WIDTHS = (60, 61, 72, 80, 99, 100, 120, 140, 200)


def kept_tables(run: str, path: Path) -> list[FittedTable]:
    """Every table of a run that was kept; it is unpacked to ``path``."""
    for packed in (RUN_CAPTURES / run / "run").iterdir():
        (path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    analysis = Analysis(run_folder.load(path))
    drawn = [table for name in registry.OF_RUN for table in terminal.terminal_tables(analysis, [name])]
    return [table for table in drawn if isinstance(table, FittedTable)]


@pytest.mark.parametrize("run", sorted(folder.name for folder in RUN_CAPTURES.iterdir()))
def test_every_word_of_kept_runs_is_shown_at_every_width(run: str, tmp_path: Path) -> None:
    for table in kept_tables(run, tmp_path):
        wide = set(rendered(table, width=200).split())
        for width in WIDTHS:
            text = rendered(table, width=width)
            lost = {word for word in wide - set(text.split()) if set(word) != {"─"}}
            assert not {word for word in lost if len(word) <= width // 2}, (width, lost)
            assert all(word in "".join(text.split()) for word in lost), width  # a long one goes over two lines
            assert max(map(len, text.splitlines())) <= width
