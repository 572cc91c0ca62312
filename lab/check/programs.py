"""The check of a host's programs: whether they are installed, and whether they work."""

import re
from collections.abc import Iterator, Sequence

from lab import workloads
from lab.base.errors import Unsupported
from lab.check.finding import Finding, of_error
from lab.check.machine import Machine
from lab.hosts import Role

NEEDED = {"perl": "perl", "iperf3": "iperf3", "ping": "iputils-ping"}  # programs, and the package of each in Debian
EXISTING = "measure a share that it has, which needs no perl there: serve = existing in [share]"
TRY_S = 5  # a version is printed in milliseconds, on the slowest of hosts in a second
# Two arguments to try a program with, and the expected output. No arguments work with every ping
VERSION = ("--version", "", r"(?i)version|\d+\.\d")
ATTEMPTS = {"perl": ("-e", "print 6*7", "^42$")}


def check(machine: Machine, subject: str, measures_link: bool = True) -> Iterator[Finding]:
    """Programs that are missing or do not work, and the tools without them; iperf3 only if it ``measures_link``."""
    here = ("", machine.platform.name)
    tools = {name: tool for name, tool in workloads.tools().items() if tool.only_on in here and not tool.is_extra}
    needed = {program: package for program, package in NEEDED.items() if program != "iperf3" or measures_link}
    packages = needed | {program: package for tool in tools.values() for program, package in tool.programs.items()}
    lacking = machine.platform.programs.missing(packages)
    for name in lacking:
        is_serving = name == "perl" and machine.role == Role.SERVER and machine.platform.clock.watches
        remedy = machine.platform.programs.how_to_install(packages[name], EXISTING if is_serving else "")
        if name in NEEDED:
            yield Finding("problem", subject, f"{name} is missing: nothing can be measured without it", remedy)
        else:
            lost = ", ".join(sorted(tool_name for tool_name, tool in tools.items() if name in tool.programs))
            yield Finding("warning", subject, f"{name} is missing: out is {lost}", remedy)
    yield from _try(machine, subject, [name for name in packages if name not in (*lacking, "ping")])
    if not lacking:
        yield Finding("ok", subject, ", ".join(_label(machine, name) for name in packages))


def check_extras(machine: Machine, subject: str) -> Iterator[Finding]:
    """Programs of the client that will not do for a tool, as a run would say, and missing ones that few ask for."""
    if machine.role != Role.CLIENT:
        return
    programs = machine.platform.programs
    for name, tool in workloads.tools().items():
        if tool.only_on not in ("", machine.platform.name):
            continue
        if missing := programs.missing(tool.programs):
            if tool.is_extra:
                remedy = programs.how_to_install(tool.programs[missing[0]])
                yield Finding("note", subject, f"{missing[0]} is missing: out is {name}", remedy)
            continue
        try:
            call = programs.call(tool.program)
            tool.check(machine.host, call)
            version = tool.version(machine.host, call)
            if tool.is_extra:
                yield Finding("ok", subject, version or name)
        except Unsupported as error:
            yield of_error("note" if tool.only_on else "warning", subject, error)


def _label(machine: Machine, name: str) -> str:
    """A program with its version, if the facts of the host have it."""
    output = machine.facts.tools.get(name, "") if machine.facts else ""
    version = re.search(r"\d+\.\d[\d.]*", output)
    return f"{name} {version[0]}" if version else name


def _try(machine: Machine, subject: str, names: Sequence[str]) -> Iterator[Finding]:
    """Run each program once, because it may be broken or never end."""
    attempts = [(name, *ATTEMPTS.get(name, VERSION)) for name in names]
    answers = machine.platform.programs.attempt([attempt[:3] for attempt in attempts], TRY_S)
    for (name, *words, pattern), (ended, printed) in zip(attempts, answers, strict=True):
        command = " ".join(filter(None, [name, *words]))
        if not ended:
            wrong = f"`{command}` does not end within {TRY_S} s"
        elif not re.search(pattern, printed):
            wrong = f"`{command}` prints {printed!r:.100}"
        else:
            continue
        remedy = f"`command -v {name}` there says which file it is: find out what that is, or put it right"
        yield Finding("problem", subject, f"{name} does not work: {wrong}", remedy)
