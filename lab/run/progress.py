"""Live progress of a run in the terminal: block, case, MB/s, time left; plain lines where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab.base.untrusted import first_line, one_line
from lab.run.runner import Progress as Step


@contextmanager
def shown(console: Console) -> Iterator[Display]:
    """A display that lives as long as the run."""
    columns = (
        TextColumn("block {task.fields[block]}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        yield Display(console, bars)


class Display:
    """Shows every step of a run, and prints each trial as a line above the bar."""

    def __init__(self, console: Console, bars: Progress):
        self.console, self.bars = console, bars
        self.task = bars.add_task("connecting", total=None, block="-")

    def __call__(self, step: Step) -> None:
        """Show one step of a run."""
        case = step.slot.case
        what = f"{case.protocol} {case.tool} {case.direction}, {case.store}, MTU {case.mtu}, TCP {case.tcp_space}"
        what = one_line(what + "".join(f", {name} {level}" for name, level in case.unusual.items()), 300)
        fields = {"description": what, "total": step.total, "completed": step.done, "block": _blocks(step)}
        self.bars.update(self.task, **fields)  # type: ignore[arg-type]
        if step.trial is None:
            return
        trial = step.trial
        if trial.status == "ok" and trial.elapsed_s:
            outcome = f"{trial.size_bytes / trial.elapsed_s / 1e6:8.1f} MB/s"
        else:
            reason = escape(cause_and_remedy(trial.reason))  # it may quote a shell's [/…]
            outcome = f"[red]{trial.status}[/red]: {reason}"
        line = f"{step.done:4d}/{step.total}  block {_blocks(step)}  {escape(what.ljust(58))} {outcome}"
        self.console.print(line, highlight=False, soft_wrap=True)


def cause_and_remedy(reason: str) -> str:
    """Of the reason of a failed trial its first line, and its last, where that is what to do: details are indented."""
    first, *others = [line for line in reason.splitlines() if line.strip()] or [""]
    remedy = others[-1] if others and not others[-1].startswith(" ") else ""
    return first_line(first, 300) + (f" -> {first_line(remedy, 300)}" if remedy else "")


def _blocks(step: Step) -> str:
    """Where the run stands: ``2 of 3``, or ``7 of 6–60`` where a precision decides how many blocks there are."""
    return f"{step.slot.block} of {'–'.join(map(str, dict.fromkeys((step.least_blocks, step.most_blocks))))}"
