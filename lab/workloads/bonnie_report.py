"""The line that bonnie++ 2.00 prints: fifty fields, which only their places tell apart (bon_csv2txt(1))."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.base.untrusted import FASTEST_BYTES_PER_S, count, quantity, word

if TYPE_CHECKING:
    from lab.results.bonnie import Bonnie, BonnieTest  # a run folder's reader comes with it, and a plan needs none

FORMAT = "1.98"
FIELDS = 50
TOO_SHORT = r"\+{3,6}"
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "": 2**20}  # without one, MiB
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
# the places of a test's rate, before that of its processor time, and of its latency
BYTES = {"write_char": (9, 38), "write_block": (11, 39), "rewrite": (13, 40), "read_char": (15, 41),
         "read_block": (17, 42)}  # fmt: skip
OPERATIONS = {"seeks": (19, 43), "create": (26, 44), "stat": (28, 45), "delete": (30, 46), "random_create": (32, 47),
              "random_stat": (34, 48), "random_delete": (36, 49)}  # fmt: skip


def parse_report(text: str, cached: bool) -> Bonnie:
    """All numbers of the one such line in what bonnie++ printed; ``cached`` where its file fits into memory.

    Raises ValueError for none, for several, and for what cannot be true.
    """
    from lab.results.bonnie import Bonnie

    lines = [line for line in text.splitlines() if re.match(r"[0-9]+\.[0-9]+,[0-9]", line)]
    if len(lines) != 1:
        raise ValueError(f"{len(lines)} lines of numbers instead of one")
    fields = lines[0].split(",")
    if fields[0] != FORMAT or len(fields) != FIELDS:
        raise ValueError(f"a line of format {fields[0]:.10} with {len(fields)} fields, not {FORMAT} with {FIELDS}")
    tests: dict[str, Any] = {name: _parse_test(fields, *places, is_bytes=True) for name, places in BYTES.items()}
    tests |= {name: _parse_test(fields, *places, is_bytes=False) for name, places in OPERATIONS.items()}
    if not any(tests.values()):
        raise ValueError("no test was run")
    return Bonnie(
        version=word(fields[1], r"2\.00[a-z]{0,2}"), file_bytes=_parse_size(fields[5]), cached=cached,
        files=count(fields[21]) * 1024 if fields[21] else None, line=word(lines[0], r"[ -~]{1,2000}"), **tests,
    )  # fmt: skip


def _parse_test(fields: Sequence[str], place: int, latency: int, is_bytes: bool) -> BonnieTest | None:
    """A test; None where it was not run."""
    from lab.results.bonnie import BonnieTest

    rate, cpu = fields[place], fields[place + 1]
    if not rate and not cpu:
        return None
    longest_ms = _parse_latency(fields[latency])
    if re.fullmatch(TOO_SHORT, rate):
        return BonnieTest(cpu=_parse_cpu(cpu), longest_ms=longest_ms, too_short=True)
    if not is_bytes:
        return BonnieTest(per_s=quantity(rate), cpu=_parse_cpu(cpu), longest_ms=longest_ms)
    bytes_per_s = round(quantity(rate) * 1024)
    if bytes_per_s > FASTEST_BYTES_PER_S:
        raise ValueError(f"{rate:.20} KiB a second")
    return BonnieTest(bytes_per_s=bytes_per_s, cpu=_parse_cpu(cpu), longest_ms=longest_ms)


def _parse_cpu(text: str) -> float | None:
    """A share, of percent of one core."""
    return None if not text or re.fullmatch(TOO_SHORT, text) else round(quantity(text) / 100, 4)


def _parse_latency(text: str) -> float | None:
    """Milliseconds: bonnie++ chooses the unit of each."""
    if not text:
        return None
    number, unit = word(text, "[0-9]{1,12}(us|ms|s)"), text.lstrip("0123456789")
    return round(int(number.removesuffix(unit)) * MILLISECONDS[unit], 3)


def _parse_size(text: str) -> int | None:
    """Bytes: the manual says MiB, and it prints a unit."""
    if not text:
        return None
    number = word(text, "[0-9]{1,9}[kKmMgG]?").rstrip("kKmMgG")
    return int(number) * UNITS[text[len(number) :].lower()]
