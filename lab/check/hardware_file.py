"""The file that `lab check --hardware --share` writes for a person to read and send, and its reader.

Output of hosts stands in lines that begin with ``| ``, so that it looks like no other line of the file. A file may come
from anybody: its reader takes it as data, within bounds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.base.untrusted import one_line, printable, word

FIRST_LINE = "file-share-lab: what hosts say about what the lab takes for granted, format 1"
EMULATED = "yes: nothing here is about real hardware"  # the fact `emulated`
QUOTE = "| "  # begins each line of a host's output
MOST_BYTES = 1 << 20  # of a file
MOST_LINES = 300  # of one answer
MOST_CHARACTERS = 400  # of a line of one
MOST_ENTRIES = 300  # of a host
AS_ASSUMED, DIFFERS, NOT_TOLD, NOT_ASKED = "as assumed", "differs", "not told", "only a run or a person shows"
VERDICTS = (AS_ASSUMED, DIFFERS, NOT_TOLD, NOT_ASKED)
READ, REFUSED = "read", "refused"
_SYSTEM = r"[A-Za-z0-9][A-Za-z0-9 ./+~:_()-]{0,79}"
_MODEL = r"[A-Za-z][A-Za-z0-9]{0,40}(,[0-9]{1,4})?"
_HOST = re.compile(r"== (client|server) ==")
_ENTRY = re.compile(rf"-- (assumption|capture) ([a-z0-9_-]{{1,60}}): ({'|'.join((*VERDICTS, READ, REFUSED))})")
_FIELD = re.compile(r"([a-z0-9 ]{1,20}): (.{1,500})")
PREAMBLE = f"""\
{FIRST_LINE}

Please read this before you send it. Names of hosts, people, shares, volumes and folders, addresses, serial numbers and
UUIDs are masked: the same name has the same mask everywhere, such as host-1 or 192.0.2.1. If you find one that is not,
replace it, and say what kind of name it was. Lines that begin with "|" are what the host said.

Where you tried by hand what "only a run or a person shows", write "as assumed" or "differs" in its place, and below it
what you saw, each line with "| " before it.
"""


@dataclass(frozen=True)
class Entry:
    """An assumption and its verdict, or a capture and whether the lab's parser reads it; with the lines of output."""

    kind: str
    name: str
    verdict: str
    fields: dict[str, str] = field(default_factory=dict)
    output: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SharedHost:
    """The facts and entries of one host, in the order of the file."""

    role: str
    facts: dict[str, str]
    entries: list[Entry] = field(default_factory=list)

    @property
    def system(self) -> str:
        """Name and version of the system. Raises ValueError for another text."""
        return word(self.facts.get("system"), _SYSTEM)

    @property
    def model(self) -> str:
        """The model, such as ``Mac16,10``. Raises ValueError for another text."""
        return word(self.facts.get("model"), _MODEL)

    @property
    def is_emulated(self) -> bool:
        """Whether any fact says so. Someone may have removed the fact ``emulated`` from the file."""
        return "emulated" in self.facts or any("emulated" in value.casefold() for value in self.facts.values())


def render(hosts: list[SharedHost]) -> str:
    """The text of the file, with escapes for control characters of hosts."""
    return "\n".join([PREAMBLE, *(line for host in hosts for line in _host_lines(host))]) + "\n"


def _host_lines(host: SharedHost) -> Iterator[str]:
    yield f"== {host.role} =="
    yield from _fields(host.facts)
    yield ""
    for entry in host.entries:
        yield f"-- {entry.kind} {entry.name}: {entry.verdict}"
        yield from _fields(entry.fields)
        yield from quote(entry.output)
        yield ""


def _fields(fields: Mapping[str, str]) -> Iterator[str]:
    for name, value in fields.items():
        if value:
            yield f"{name}: {one_line(value, MOST_CHARACTERS)}".rstrip()


def quote(output: Sequence[str]) -> Iterator[str]:
    """At most MOST_LINES lines of output for the file, with escapes, each cut at MOST_CHARACTERS."""
    for line in output[:MOST_LINES]:
        text = printable(line.replace("\t", "    "))
        yield (QUOTE + (text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…")).rstrip()
    if len(output) > MOST_LINES:
        yield f"{QUOTE}… {len(output) - MOST_LINES} more lines"


def parse_shared(text: str) -> list[SharedHost]:
    """The hosts of a file. Raises ValueError with the number of a wrong line."""
    lines = [line.rstrip() for line in text[: MOST_BYTES + 1].split("\n")]
    if len(text) > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 10} KiB")
    if lines[0] != FIRST_LINE:
        raise ValueError("line 1: not what `lab check --hardware --share` writes, or of another version of it")
    hosts: list[SharedHost] = []
    for number, line in enumerate(lines, start=1):
        if role := _HOST.fullmatch(line):
            hosts.append(SharedHost(role[1], {}))
        elif hosts and line and not _add_line(line, hosts[-1]):  # not the preamble, and not between entries
            raise ValueError(f"line {number}: {line!r:.60} cannot stand there")
    if not hosts or len({host.role for host in hosts}) < len(hosts):
        raise ValueError("no host in it, or one twice")
    for host in hosts:
        names = {(entry.kind, entry.name) for entry in host.entries}
        if not len(names) == len(host.entries) <= MOST_ENTRIES:
            raise ValueError(f"{host.role}: too many entries, or one twice")
    return hosts


def _add_line(line: str, host: SharedHost) -> bool:
    """Begin an entry, or add a line to the newest entry or, before any, to the host; False for another form."""
    entries = host.entries
    if entry := _ENTRY.fullmatch(line):
        entries.append(Entry(entry[1], entry[2], entry[3]))
        return True
    if entries and line.startswith(QUOTE.rstrip()):
        entries[-1].output.append(line.removeprefix(QUOTE.rstrip()).removeprefix(" "))
        return True
    if match := _FIELD.fullmatch(line):
        (entries[-1].fields if entries else host.facts).setdefault(match[1], match[2])
    return match is not None
