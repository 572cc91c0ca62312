"""The programs of a host: how they are called, whether they are there, and how they get there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar

from lab.platforms.part import Part

MISSING = 'for name in "$@"; do command -v "$name" >/dev/null || echo "$name"; done; :'


class Programs(Part):
    """The programs of a host.

    ``calls`` are the first words of a command by program, where on this system the plain name would not do what the
    lab measures; see :mod:`lab.workloads` for what each tool needs.
    """

    calls: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})

    def call(self, program: str) -> tuple[str, ...]:
        """The words that a command of this program begins with: ``("cp", "-X")``, or just its name."""
        return self.calls.get(program, (program,))

    def missing(self, programs: Iterable[str]) -> list[str]:
        """Those of these programs that the host does not have."""
        return self.host.shell(MISSING, *programs).stdout.split()

    def how_to_install(self, package: str) -> str:
        """What to do to get a program there; ``package`` is the name of its package in Debian."""
        return f"install what Debian calls {package} there"
