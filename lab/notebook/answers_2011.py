"""`answers-2011.ipynb`: the questions of the posts of 2011 to 2015, with their figures and your own."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.notebook.opened import Opened
from lab.notebook.table import Table, Text, display
from lab.report.published import describe, published_tables, tables_beside
from lab.report.tables import TextTable, number
from lab.results.published import find_baseline, read_published
from lab.stats.recomputed import beside, recompute


@dataclass(frozen=True)
class Question:
    """A question, the beginnings of the names of its published tables, and how to ask it again."""

    text: str
    tables: tuple[str, ...]
    again: str


def _by_sweep(sweep: str) -> str:
    return f"`lab run {sweep}` asks the same of your hosts."


QUESTIONS = (
    Question("How fast is a share as it comes, from disk to disk?", ("network-1",), _by_sweep("blog-2011")),
    Question(
        "Do jumbo frames help, and what does the link carry?", ("network-2-table-1", "network-2-text"),
        _by_sweep("blog-2011"),
    ),
    Question("Do larger TCP buffers help?", ("network-2-table-2",), _by_sweep("blog-2011")),
    Question("AFP, SMB or NFS?", ("network-3",), _by_sweep("blog-2011")),
    Question(
        "Is ZFS faster with a new kernel?", ("kernel", "bonnie++ 1.03d"),
        "Ask it by two runs of one sweep, and `lab compare OLD NEW`.",
    ),
    Question("What does ashift cost a single disk?", ("zfs-1",), _by_sweep("storage-2011")),
    Question("What does ashift cost raidz, and raidz2?", ("zfs-2", "zfs-3"), _by_sweep("storage-2011")),
    Question("What does raidz2 cost against raidz?", ("zfs-5",), _by_sweep("storage-2011")),
    Question("Whole disks, or partitions?", ("zfs-6", "zfs-final"), _by_sweep("storage-2011-disks")),
    Question(
        "What does ashift cost a pool of 24 disks, in speed and in room?", ("raidz3-24",),
        "No sweep that comes with the lab has so many disks.",
    ),
    Question("How fast is a pool of a Mac of 2015?", ("bonnie++ 1.97",), _by_sweep("storage-2015")),
)  # fmt: skip


def show_slips() -> Table:
    """The printed changes that contradict the printed speeds, and the right changes."""
    figures = read_published()
    rows = []
    for entry in recompute(figures):
        if entry.is_slip:
            figure, baseline = entry.figure, find_baseline(entry.figure, figures)
            first = f"{baseline.value:g} {baseline.unit}" if baseline else "–"
            changes = f"{figure.change_pct:+g}", number(entry.change_pct, "+.2f")
            rows.append([figure.table, describe(figure), first, f"{figure.value:g} {figure.unit}", *changes])
    return Table(TextTable(["table", "", "from", "to", "printed %", "right %"], rows, is_text=True), "The slips")


def answer(question: Question, run: Opened) -> list[object]:
    """The published tables of a question, beside the figures of the run if it has any."""
    figures = [figure for figure in read_published() if figure.table.startswith(question.tables)]
    recomputed = recompute(figures)
    tables = tables_beside(recomputed, beside(figures, run.trials), run.run)
    words = [] if tables else [Text(f"{run.name} measured none of it. {question.again}")]
    return [*(Table(table, question.text) for table in tables or published_tables(recomputed)), *words]


def show_all(run: Opened, questions: Sequence[Question] = QUESTIONS) -> None:
    """Display every question with its answer."""
    for question in questions:
        display(*answer(question, run))
