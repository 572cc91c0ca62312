"""The programs of a host: how they are called, whether they are there, and how they get there."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar

from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.platforms.part import Part

MISSING = 'for name in "$@"; do command -v "$name" >/dev/null || echo "$name"; done; :'
TRY = read_script(__file__, "try_programs.sh")


class Programs(Part):
    """The programs of a host.

    ``calls`` are the first words of a program's command, if its plain name would do something else on this system than
    the lab measures (:mod:`lab.workloads`). ``other_names`` are names under which the system may have a program.
    """

    calls: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    other_names: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def call(self, program: str) -> tuple[str, ...]:
        """The words that a command of this program begins with: ``("cp", "-X")``, or just its name there.

        Raises HostError where the host has to be asked for the name.
        """
        return self.calls.get(program) or (self._name(program),)

    def _name(self, program: str) -> str:
        """The name under which the host has a program; its usual name is preferred."""
        other = self.other_names.get(program)
        return other if other and self._absent([program, other]) == {program} else program

    def missing(self, programs: Iterable[str]) -> list[str]:
        """The programs that the host lacks."""
        asked = list(programs)
        absent = self._absent([*asked, *(self.other_names[name] for name in asked if name in self.other_names)])
        return [name for name in asked if {name, self.other_names.get(name, name)} <= absent]

    def _absent(self, names: Iterable[str]) -> set[str]:
        return set(self.host.shell(MISSING, *names).stdout.split())

    def attempt(self, attempts: Iterable[tuple[str, str, str]], seconds: int) -> list[tuple[bool, str]]:
        """Run programs side by side; returns for each whether it ended in time, and a line of its output.

        An attempt is a program and two words for it; the second may be empty.
        """
        words = [word for program, *options in attempts for word in (self._name(program), *options)]
        lines = self.host.shell(TRY, str(seconds), *words, deadline_s=seconds + 30).stdout.splitlines()
        answers = [line.partition(" ") for line in lines]
        return [(state == "ended", first_line(printed)) for state, _, printed in answers]

    def how_to_install(self, package: str) -> str:
        """What to do to get a program there; ``package`` is the name of its package in Debian."""
        return f"install what Debian calls {package} there"
