"""bonnie++ 1.96 to 2.00: twelve tests of a file system, and the line of numbers that it prints (bon_csv2txt(1))."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.base.untrusted import FASTEST_BYTES_PER_S, count, quantity, word
from lab.design.payload_size import MIB
from lab.hosts import Host
from lab.results.observed import Bonnie, BonnieTest

NAME = "bonnie++"
PROGRAMS: Mapping[str, str] = MappingProxyType({NAME: NAME})  # with its Debian package
VERSION = re.compile(r"^Version: (\S{1,20})", re.MULTILINE)
KNOWN = r"(1\.9[678]|2\.00)[a-z]{0,2}"
THOUSANDS_OF_FILES = 16  # bonnie++'s default, as in the posts of 2011 and 2015: 16 × 1024
FILES = THOUSANDS_OF_FILES * 1024
PASSES = 6  # over the file, about: byte by byte, by blocks and again, each written or read
TIMES_MEMORY = 2  # memory holds so much of a smaller file that the test no longer measures the disk
FIELDS = {"1.96": 48, "1.97": 48, "1.98": 50}  # by the format of the line, which 2.00 did not change
SEEKS = slice(7, 7)  # where 1.98 put two fields: how many random seeks, and by how many processes
TOO_SHORT = r"\+{3,6}"
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "": 2**20}  # without one, MiB
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
# The fields of a test's rate, which its processor time follows, and of its latency
BYTES = {"write_char": (9, 38), "write_block": (11, 39), "rewrite": (13, 40), "read_char": (15, 41),
         "read_block": (17, 42)}  # fmt: skip
OPERATIONS = {"seeks": (19, 43), "create": (26, 44), "stat": (28, 45), "delete": (30, 46), "random_create": (32, 47),
              "random_stat": (34, 48), "random_delete": (36, 49)}  # fmt: skip


def check(host: Host, call: Sequence[str]) -> None:
    """Raise Unsupported for a version before 1.96, because its tests and its line mean something else."""
    printed = host.run(*call, "-h", check=False)  # an unknown option: it prints its usage
    match = VERSION.search(printed.stderr + printed.stdout)
    if not match or not re.fullmatch(KNOWN, match[1]):
        version = f"is version {match[1]}" if match else "does not say its version"
        raise Unsupported(
            f"bonnie++ {version}, and the lab knows 1.96 to 2.00",
            "install bonnie++ 2.00 there, or take it out of store_tools in the sweep",
            host=host.name,
        )


def file_bytes(asked: int | None, memory_bytes: int) -> int:
    """Bytes of its file, in whole MiB: those asked for, or twice the memory."""
    return -(-(asked or TIMES_MEMORY * memory_bytes) // MIB) * MIB


def is_cached(size_bytes: int, memory_bytes: int) -> bool:
    """Whether memory holds so much of the file that the disk alone is not measured."""
    return size_bytes < TIMES_MEMORY * memory_bytes


@dataclass(frozen=True)
class Options:
    """``with_fsync`` flushes what it wrote, and each small file (``-b``). ``per_byte`` tests single bytes, too."""

    with_fsync: bool = False
    per_byte: bool = True


USUAL = Options()


def argv(call: Sequence[str], folder: str, size_bytes: int, as_root: bool, options: Options = USUAL) -> tuple[str, ...]:
    """The command that tests in ``folder``, which must be the lab's own: bonnie++ makes and removes files there.

    It refuses root without ``-u``, and a file that fits into memory without ``-r 0``.
    """
    account = ("-u", "root") if as_root else ()
    size = ("-s", str(size_bytes // MIB), "-r", "0", "-n", str(THOUSANDS_OF_FILES))
    tests = [*(["-b"] if options.with_fsync else []), *([] if options.per_byte else ["-f"])]
    return (*call, "-d", folder, *size, "-m", "lab", "-q", *tests, *account)


def parse_report(text: str, cached: bool) -> Bonnie:
    """The numbers of the one such line in the output; ``cached`` if its file fits into memory. Raises ValueError."""
    lines = [line for line in text.splitlines() if re.match(r"[0-9]+\.[0-9]+[a-z]?,[0-9]", line)]
    if len(lines) != 1:
        raise ValueError(f"{len(lines)} lines of numbers instead of one")
    fields = lines[0].split(",")
    if len(fields) != FIELDS.get(fields[0]):
        raise ValueError(f"a line of format {fields[0]:.10} with {len(fields)} fields, not one of {FIELDS}")
    if fields[0] < "1.98":
        fields[SEEKS] = ["", ""]
    places = BYTES | OPERATIONS
    tests = {name: _parse_test(fields, *places[name], is_bytes=name in BYTES) for name in places}
    if not any(tests.values()):
        raise ValueError("no test was run")
    return Bonnie(
        version=word(fields[1], KNOWN), file_bytes=_parse_size(fields[5]), cached=cached, other={},
        files=count(fields[21]) * 1024 if fields[21] else None, line=word(lines[0], r"[ -~]{1,2000}"), **tests,
    )  # fmt: skip


def _parse_test(fields: Sequence[str], place: int, latency: int, is_bytes: bool) -> BonnieTest | None:
    """A test; None if it was not run."""
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
    """The share of one core, from percent."""
    return None if not text or re.fullmatch(TOO_SHORT, text) else round(quantity(text) / 100, 4)


def _parse_latency(text: str) -> float | None:
    """Milliseconds. bonnie++ chooses the unit."""
    if not text:
        return None
    number, unit = word(text, "[0-9]{1,12}(us|ms|s)"), text.lstrip("0123456789")
    return round(int(number.removesuffix(unit)) * MILLISECONDS[unit], 3)


def _parse_size(text: str) -> int | None:
    """Bytes. The manual says MiB, but bonnie++ prints a unit."""
    if not text:
        return None
    number = word(text, "[0-9]{1,9}[kKmMgG]?").rstrip("kKmMgG")
    return int(number) * UNITS[text[len(number) :].lower()]
