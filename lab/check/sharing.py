"""`lab check --hardware --share FILE`: what both hosts say about what is assumed of them, masked, in one file."""

from dataclasses import asdict, replace
from pathlib import Path

import lab
from lab.base import durable
from lab.base.errors import BadInput, LabFailure
from lab.base.masking import Masker
from lab.base.untrusted import one_line
from lab.check.finding import is_lost
from lab.check.hardware import Answer, about_version, ask, captures_of, why_not_asked
from lab.check.hardware_file import (
    AS_ASSUMED,
    DIFFERS,
    EMULATED,
    NOT_ASKED,
    NOT_TOLD,
    READ,
    REFUSED,
    Entry,
    SharedHost,
    render,
)
from lab.check.machine import Machine
from lab.hosts.assumption import Capture
from lab.hosts.hosts_file import Hosts
from lab.platforms import Facts
from lab.results.trial import emulated

LONGEST_OUTPUT = 256 << 10  # characters of one output that are looked at
LONGEST_ASK = 200  # characters of a command that the file shows
# In place of an error's message, which quotes parts of what the host printed: a part of a name cannot be masked
FAILED = "the command failed, or took too long"
READ_IT = "read it, then attach it to an issue: docs/how-to/check-hosts.md"


class Sharing:
    """Collects what both hosts say, and the names that must not be in the file; then writes it, once."""

    def __init__(self, path: Path, config: Hosts):
        """Raises BadInput where something of that name is there, or its folder is not."""
        self.path, self._config, self._masker = path, config, Masker()
        self._hosts: list[SharedHost] = []  # before names are masked
        if path.is_symlink() or path.exists():
            raise BadInput(f"{path}: is there already, and is not written over", "remove it, or give another name")
        if not path.parent.is_dir():
            raise BadInput(f"{path}: there is no folder {path.parent}", "make it, or give another name")
        for section in (*config.clients.values(), config.server):
            self._know("host", section.host or "")
            self._know("user", section.user or "")
        self._know("share", config.share.name)
        self._know("user", config.share.account)
        self._know("path", *(path.strip("/~") for path in (config.share.path, config.client.mount_base) if path))

    def add(self, machine: Machine, peer: str, answers: list[Answer]) -> None:
        """Take in the answers of a host, and ask it for captures. Raises HostError where the connection is lost."""
        facts = machine.facts
        if facts is None:
            return
        self._know("host", facts.hostname)
        self._know("user", facts.user, facts.home.rpartition("/")[2])
        for kind, names in machine.platform.preflight.names().items():
            self._know(kind, *names)
        host = SharedHost(machine.role, _describe(facts, bool(self._config.lab.instance)))
        host.entries.extend(map(_entry_of_answer, answers))
        for capture in about_version(machine, captures_of(type(machine.platform))):
            if not why_not_asked(machine, capture)[0]:
                host.entries.append(_capture(machine, facts, capture, peer))
        self._hosts.append(host)

    def write(self) -> str:
        """Write the file; a line about it. Raises BadInput where something has its name by now, LabFailure, OSError."""
        self._learn_names()
        text = render([self._masked(host) for host in self._hosts])
        try:
            durable.create(self.path, text.encode())
        except FileExistsError as error:
            raise BadInput(f"{self.path}: is there already, and is not written over", "give another name") from error
        verdicts = [entry.verdict for host in self._hosts for entry in host.entries]
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in (AS_ASSUMED, DIFFERS, NOT_TOLD))
        return f"{self.path}: {counts}; {READ_IT}"

    def _know(self, kind: str, *names: str) -> None:
        try:
            self._masker.know(kind, *names)
        except ValueError as error:
            raise LabFailure(f"{self.path}: not written: {error}") from error

    def _learn_names(self) -> None:
        """Find the names in all outputs, so that each is masked wherever it stands. Raises LabFailure."""
        try:
            for host in self._hosts:
                for entry in host.entries:
                    self._masker.learn("\n".join(entry.output))
        except ValueError as error:
            raise LabFailure(f"{self.path}: not written: {error}") from error

    def _masked(self, host: SharedHost) -> SharedHost:
        plain = ("system", "model")  # words of Apple's, by which a table of the documentation names a Mac
        facts = {name: text if name in plain else self._masker.mask(text) for name, text in host.facts.items()}
        return SharedHost(host.role, facts, [self._masked_entry(entry) for entry in host.entries])

    def _masked_entry(self, entry: Entry) -> Entry:
        output = self._masker.mask("\n".join(entry.output)).split("\n") if entry.output else []
        return replace(entry, output=output)


def _describe(facts: Facts, in_local_lab: bool) -> dict[str, str]:
    """The facts of a host that the file shows, by name."""
    run = {"hosts": {"this": asdict(facts)}, "instance": in_local_lab or None}
    speed = f"{facts.link_bits_per_s / 1e9:g} Gbit/s" if facts.link_bits_per_s else ""
    shown = {
        "emulated": EMULATED if emulated(run) else "",
        "lab": lab.__version__,
        "system": facts.os,
        "model": facts.about.get("model", ""),
        "kernel": facts.kernel,
        "cpu": facts.cpu,
        "cores": str(facts.cores),
        "memory": f"{facts.memory_bytes / 2**30:.1f} GiB",
        "link": f"{facts.interface}, {speed or 'of unknown speed'}, MTU {facts.mtu}",
        **{f"program {name}": text for name, text in facts.tools.items()},
    }
    return {name: one_line(text, 200) for name, text in shown.items() if text}


def _lines(text: str) -> list[str]:
    """The lines of an output. The last is left out where it is cut: a part of a name cannot be masked."""
    whole = text if len(text) <= LONGEST_OUTPUT else text[:LONGEST_OUTPUT].rpartition("\n")[0]
    return whole.strip("\n").split("\n") if whole.strip() else []


def _entry_of_answer(answer: Answer) -> Entry:
    row = answer.assumption
    ask = row.ask.strip()
    short = ask if len(ask) <= LONGEST_ASK and "\n" not in ask else "a script"
    fields = {"what": row.what, "assumed": row.expected}
    if answer.verdict == NOT_ASKED:
        fields = {"what": row.what, "try": row.expected}
    elif answer.failure:
        fields["why"] = answer.reason or FAILED
    else:
        fields["asked"] = short
    return Entry("assumption", row.name, answer.verdict, fields, _lines(answer.output))


def _capture(machine: Machine, facts: Facts, capture: Capture, peer: str) -> Entry:
    """Ask for a capture, and say whether the lab's parser reads it. Raises HostError where the connection is lost."""
    try:
        output = ask(machine, facts, capture, peer).stdout
    except LabFailure as error:
        if is_lost(error):
            raise
        return Entry("capture", capture.name, REFUSED, {"why": FAILED})
    try:
        capture.parse(output)
    except (LabFailure, ValueError, LookupError):
        return Entry("capture", capture.name, REFUSED, {"why": "the lab cannot read it"}, _lines(output))
    return Entry("capture", capture.name, READ, {"asked": one_line(capture.ask.strip(), LONGEST_ASK)}, _lines(output))
