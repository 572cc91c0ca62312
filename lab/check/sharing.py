"""`lab check --hardware --share FILE`: the answers of both hosts in one file, with masks for names."""

from dataclasses import asdict, replace
from pathlib import Path

import lab
from lab.base import durable
from lab.base.errors import BadInput, LabFailure
from lab.base.masking import Masker
from lab.base.untrusted import one_line
from lab.check.finding import is_lost
from lab.check.hardware import Answer, about_version, ask, captures_of, why_not_asked
from lab.check.hardware_file import EMULATED, NOT_ASKED, READ, REFUSED, VERDICTS, Entry, SharedHost, render
from lab.check.machine import Machine
from lab.hosts.assumptions import Capture
from lab.hosts.hosts_file import Hosts
from lab.platforms import Facts
from lab.results.trial import emulated

LONGEST_OUTPUT = 256 << 10  # characters of one output
LONGEST_ASK = 200  # characters of a command in the file
# Replaces an error's message, which may quote a part of a name: such a part cannot be masked
FAILED = "the command failed, or took too long"
READ_IT = "read it, then attach it to an issue: docs/how-to/check-hosts.md"


class Sharing:
    """Collects the answers of both hosts, and the names that must not be in the file; then writes it."""

    def __init__(self, path: Path, config: Hosts):
        """Raises BadInput if the path exists, or its folder does not."""
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
        """Add the answers of a host, and ask it for captures. Raises HostError if the connection is lost."""
        if (facts := machine.facts) is None:
            return
        self._know("host", facts.hostname)
        self._know("user", facts.user, facts.home.rpartition("/")[2])
        for kind, names in machine.platform.preflight.names().items():
            self._know(kind, *names)
        captures = about_version(machine, captures_of(type(machine.platform)))
        asked = (capture for capture in captures if not why_not_asked(machine, capture)[0])
        entries = [*map(_entry_of_answer, answers), *(_capture(machine, facts, capture, peer) for capture in asked)]
        self._hosts.append(SharedHost(machine.role, _describe(facts, bool(self._config.lab.instance)), entries))

    def write(self) -> str:
        """Write the file; a line about it. Raises BadInput if the path exists by now, LabFailure, OSError."""
        self._learn_names()
        try:
            durable.create(self.path, render([self._masked(host) for host in self._hosts]).encode())
        except FileExistsError as error:
            raise BadInput(f"{self.path}: is there already, and is not written over", "give another name") from error
        verdicts = [entry.verdict for host in self._hosts for entry in host.entries]
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict != NOT_ASKED)
        return f"{self.path}: {counts}; {READ_IT}"

    def _know(self, kind: str, *names: str) -> None:
        try:
            self._masker.know(kind, *names)
        except ValueError as error:
            raise LabFailure(f"{self.path}: not written: {error}") from error

    def _learn_names(self) -> None:
        """Find the names in all outputs before any is masked. Raises LabFailure for too many."""
        try:
            for host in self._hosts:
                for entry in host.entries:
                    self._masker.learn("\n".join(entry.output))
        except ValueError as error:
            raise LabFailure(f"{self.path}: not written: {error}") from error

    def _masked(self, host: SharedHost) -> SharedHost:
        plain = ("system", "model")  # Apple's words, by which a table of the documentation names a Mac
        facts = {name: text if name in plain else self._masker.mask(text) for name, text in host.facts.items()}
        return SharedHost(host.role, facts, [replace(entry, output=self._mask(entry.output)) for entry in host.entries])

    def _mask(self, lines: list[str]) -> list[str]:
        return self._masker.mask("\n".join(lines)).split("\n") if lines else []


def _describe(facts: Facts, in_local_lab: bool) -> dict[str, str]:
    """The facts of a host for the file, by name."""
    run = {"hosts": {"this": asdict(facts)}, "instance": in_local_lab or None}
    speed = f"{facts.link_bits_per_s / 1e9:g} Gbit/s" if facts.link_bits_per_s else ""
    shown = {
        "emulated": EMULATED if emulated(run) else "", "lab": lab.__version__, "system": facts.os,
        "model": facts.about.get("model", ""), "kernel": facts.kernel, "cpu": facts.cpu, "cores": str(facts.cores),
        "memory": f"{facts.memory_bytes / 2**30:.1f} GiB",
        "link": f"{facts.interface}, {speed or 'of unknown speed'}, MTU {facts.mtu}",
        **{f"program {name}": text for name, text in facts.tools.items()},
    }  # fmt: skip
    return {name: one_line(text, 200) for name, text in shown.items() if text}


def _lines(text: str) -> list[str]:
    """The lines of an output. A last line that is cut is left out, because a part of a name cannot be masked."""
    whole = text if len(text) <= LONGEST_OUTPUT else text[:LONGEST_OUTPUT].rpartition("\n")[0]
    return whole.strip("\n").split("\n") if whole.strip() else []


def _entry_of_answer(answer: Answer) -> Entry:
    row = answer.assumption
    fields = {"what": row.what, "try" if answer.verdict == NOT_ASKED else "assumed": row.expected}
    if answer.failure:
        fields["why"] = answer.reason or FAILED
    elif answer.verdict != NOT_ASKED:
        question = row.ask.strip()
        fields["asked"] = question if len(question) <= LONGEST_ASK and "\n" not in question else "a script"
    return Entry("assumption", row.name, answer.verdict, fields, _lines(answer.output))


def _capture(machine: Machine, facts: Facts, capture: Capture, peer: str) -> Entry:
    """Ask for a capture, and try the lab's parser on it. Raises HostError if the connection is lost."""
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
