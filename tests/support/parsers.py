"""Parsers as they are tried, with captures for input, and some that take more than a text."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from lab.base.masking import Masker
from lab.hosts import Host, Result
from lab.platforms import timing
from support.paths import LINUX_CAPTURES, MACOS_CAPTURES, RUN_CAPTURES


@dataclass(frozen=True)
class Parser:
    """A parser, what it parses (captures by name, or what stands here), and what it raises for anything else."""

    parse: Callable[[str], object]
    captures: tuple[str, ...]
    error: type[Exception] | None = ValueError

    def read_or_refuse(self, text: str) -> bool:
        """Whether it reads this text, which else it has to refuse by its own error."""
        with suppress(*([self.error] if self.error else [])):
            self.parse(text)
            return True
        return False

    def originals(self) -> list[bytes]:
        """What real commands printed."""
        contents = []
        for name in self.captures:
            if not name.endswith((".txt", ".json", ".plist", ".log")):
                contents.append(name.encode())
            for folder in (LINUX_CAPTURES, MACOS_CAPTURES) if "\n" not in name else ():
                contents += [path.read_bytes() for path in sorted(folder.glob(name))]
        return contents


class Saying(Host):
    """A host that says this, whatever it is asked."""

    def __init__(self, text: str):
        super().__init__("server")
        self.text = text

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        return Result(argv, 0, self.text, "", 0.0)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """There is no connection."""
        take_over()

    def close(self) -> None:
        """There is no connection."""


def recorded(role: str) -> str:
    """What a host's own journal held when a run had been cut short, as the host prints it."""
    folder = RUN_CAPTURES / "interrupted" / "host-journals" / role
    lock = (folder / "lock").read_text().splitlines()
    records = "".join(path.read_text() for path in sorted(folder.glob("*-??????")))
    return f"held\n{lock[0].split()[1]}\n{lock[1]}\n{records}"


def timed(text: str) -> object:
    """What the stopwatch printed, with counters that count nothing."""
    values = timing.values_of(text)
    return timing.parse_timing(values, 60.0, lambda _: timing.Counters(1, 1, None, None, {}))


def masked(text: str) -> str:
    """A text less the names that stand in it."""
    masker = Masker()
    masker.learn(text)
    return masker.mask(text)
