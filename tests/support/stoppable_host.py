"""A Linux server with emulated commands, whose controller can be killed at any of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.hosts import Result
from support.fake_host import EmulatedHost
from support.memory_host import Killed


@dataclass
class Stop:
    """When the controller is killed: at the command of this number, before or after its effect."""

    at: int | None = None
    after: bool = False
    count: int = field(default=0)


class StoppableHost(EmulatedHost):
    """Such a host; ``stop`` says when whoever sends commands to it is killed.

    ``own`` is the lab's own folder. For each path of ``places`` scripts find one in the host's folder.
    """

    def __init__(self, folder: Path, commands: Mapping[str, str], real: Sequence[str]):
        super().__init__(folder, commands, real, "server")
        self.stop = Stop()
        self.own = folder / "file-share-lab-01234567"
        self.own.mkdir()
        self.places = {"/proc/self/mounts": "mounts", "/sys/module/": "sys_module_"}

    @abstractmethod
    def is_left_as_it_was(self) -> bool:
        """Whether there is what there was, and nothing else."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        number, self.stop.count = self.stop.count, self.stop.count + 1
        is_last = self.stop.at is not None and number >= self.stop.at
        if is_last and not (self.stop.after and number == self.stop.at):
            raise Killed()
        for place, pretended in self.places.items():
            argv = tuple(word.replace(place, f"{self.folder}/{pretended}") for word in argv)
        result = super()._execute(argv, root, given, deadline_s, stop_mark)
        if is_last:
            raise Killed()
        return result
