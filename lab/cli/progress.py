"""Live progress of a run in the terminal: block, time left, MB/s. Without a terminal, plain lines.

All rates are of trials that have ended, because asking the hosts during a transfer would disturb it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lab.base.errors import cause_and_remedy
from lab.base.untrusted import one_line
from lab.base.wrapped import columns, wrap
from lab.design.case import Case
from lab.run.runner import Progress as Step

UPDATES_PER_S = 1  # the controller may be one of the hosts, or share a processor with them
BAR, LEAST_BAR = 24, 6  # columns; with less room there is no bar
CASE = 58  # columns of the case in the line of a trial


@contextmanager
def shown(console: Console) -> Iterator[Display]:
    """A display for the time of a run."""
    display = Display(console)
    if not console.is_terminal:
        yield display
        return
    redirect = sys.stderr.isatty()  # print messages above the display, unless they go to a file
    with Live(display, console=console, refresh_per_second=UPDATES_PER_S, redirect_stderr=redirect):
        yield display


class Display:
    """Shows the newest step of a run, and prints a line above it for each trial."""

    def __init__(self, console: Console):
        self.console = console
        self._began = time.monotonic()
        self._step: Step | None = None
        self._last_rate = ""
        self._first_s = self._end_s = 0.0  # when the run began or was resumed, and when it will end
        self._trials = 0  # since then

    def __call__(self, step: Step) -> None:
        """Show a step, and estimate the end by the mean time of a trial."""
        now_s = time.monotonic()
        self._first_s = self._first_s or now_s
        if (trial := step.trial) is not None:
            self._trials += 1
            self._end_s = now_s + (now_s - self._first_s) / self._trials * (step.total - step.done)
            if step.deadline is not None:
                self._end_s = min(self._end_s, step.deadline)
            rate = trial.size_bytes / trial.elapsed_s if trial.status == "ok" and trial.elapsed_s else 0.0
            self._last_rate = _describe_rate(step.slot.case, rate) if rate else ""
            failure = f"{trial.status}: {cause_and_remedy(trial.reason)}"
            self._print(step, f"{self._last_rate:>13}" if rate else failure, is_good=bool(rate))
        self._step = step

    def _print(self, step: Step, outcome: str, is_good: bool) -> None:
        start, what = f"{step.done:4d}{_total(step)}  ", _name(step.slot.case)
        line = f"{start}block {_blocks(step)}  {what.ljust(CASE)} {outcome}"
        width = self.console.width
        if self.console.is_terminal and columns(line) > width:
            line = "\n".join(wrap(f"{start}block {_blocks(step)}  {what}  {outcome.strip()}", width, " " * len(start)))
        self.console.print(Text(line, "" if is_good else "red"), soft_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Block, time left, the case that is measured, and its rates so far."""
        if (step := self._step) is None:
            yield Text("connecting")
            return
        block = f"block {_blocks(step)}"
        now_s = time.monotonic()
        gone_s = now_s - self._began
        time_left = timedelta(seconds=int(max(self._end_s - now_s, 0.0))) if self._trials else "-:--:--"
        at = f"{step.done}{_total(step)}  {timedelta(seconds=int(gone_s))} gone, {time_left} left"
        total, done = float(step.total), float(step.done)
        if step.deadline is not None:
            total, done = step.deadline - self._began, gone_s
        line = Table.grid(padding=(0, 2))
        room = options.max_width - len(block) - len(at) - 4
        bar = [ProgressBar(total, min(done, total), min(BAR, room))] if room >= LEAST_BAR else []
        line.add_row(Text(block), *bar, Text(at))
        yield line
        yield Text(_name(step.slot.case))
        yield Text(_describe_rates(step, self._last_rate))


def _describe_rate(case: Case, bytes_per_s: float) -> str:
    """The rate of a case; in files a second if only names move."""
    if case.is_of_names:
        return f"{bytes_per_s * case.files / case.size_bytes:.0f} files/s"
    return f"{bytes_per_s / 1e6:.1f} MB/s"


def _describe_rates(step: Step, last_rate: str) -> str:
    """The rate of the last trial, the median of the measured case, and the ceiling of the link."""
    parts = [f"last trial {last_rate}"] if last_rate else []
    if step.rates:
        trials = f"{len(step.rates)} trial{'s' * (len(step.rates) > 1)}"
        median = _describe_rate(step.slot.case, statistics.median(step.rates))
        parts.append(f"median of this case {median} ({trials})")
    parts += [f"link {step.ceiling_bytes_per_s / 1e6:.1f} MB/s"] if step.ceiling_bytes_per_s else []
    return ", ".join(parts)


def _name(case: Case) -> str:
    """The case in words, on one line."""
    name = f"{case.protocol} {case.tool} {case.direction}, {case.store}, MTU {case.mtu}, TCP {case.tcp_space}"
    return one_line(name + "".join(f", {option} {level}" for option, level in case.unusual.items()), 300)


def _blocks(step: Step) -> str:
    """``2 of 3``; ``7 of 6–60`` if a precision decides the number of blocks; ``7`` if the run ends at a deadline."""
    if step.deadline is not None:
        return f"{step.slot.block}"
    return f"{step.slot.block} of {'–'.join(map(str, dict.fromkeys((step.least_blocks, step.most_blocks))))}"


def _total(step: Step) -> str:
    """The number of trials, if it is known."""
    return f"/{step.total}" if step.deadline is None else ""
