"""A file server in a Linux kernel, which has only one: whether the lab may use it, and why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.base.errors import LabFailure, Unsupported
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts.command import Command, script
from lab.hosts.systems import how_to_install
from lab.protocols.driver import ListeningTest, Side

READ_STATE = read_script(__file__, "kernel_server_state.sh")


@dataclass(frozen=True)
class KernelServer:
    """``has`` is a shell test whether this kernel has it, ``write_holder`` makes a script that says who uses it.

    The script prints a word; it is made with the host's own test for ports. ``package`` has the ``programs`` in Debian,
    ``then`` is what else to do. ``refusals`` say why and what to do about it, by the words other than ``free``.
    """

    name: str
    has: str
    write_holder: Callable[[ListeningTest], str]
    programs: tuple[str, ...]
    package: str
    refusals: Mapping[str, tuple[str, str]]
    then: str = ""

    def read_state(self, server: Side) -> Command:
        """The command that asks a host; it prints ``free``, or in a word why it is not."""
        return script(READ_STATE, self.has, self.write_holder(server.listening), *self.programs, root=True)

    def is_free(self, server: Side) -> bool:
        return self.read_state(server).run(server.host, check=False) == "free"

    def find_refusal(self, server: Side) -> str:
        """Why the lab can never use it; empty where it can. Raises Unsupported where a person can help."""
        role = server.host.name
        never = {
            "free": "",
            "shared": f"others share this host's kernel, which has one {self.name} for all",
            "unknown": f"the kernel has no {self.name}",
        }
        state, _, lacking = first_line(self.read_state(server).run(server.host)).partition(" ")
        if state == "lacks":
            install = how_to_install(server.host, self.package) + self.then
            raise Unsupported(f"no {lacking.replace(' ', ', ')}", install, host=role)
        if state in self.refusals:
            raise Unsupported(*self.refusals[state], host=role)
        if state not in never:
            raise LabFailure(f"whether its {self.name} is free cannot be told: {state!r:.100}", host=role)
        return never[state]
