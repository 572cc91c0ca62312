"""A Linux server with emulated commands, whose controller can be killed before or after any of them."""

import os
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.hosts import Result
from support.fake_host import EmulatedHost

# What the programs are, and what they noted of each call: no script reads that
NO_STATE = {"bin", "calls"}
# An image is larger, and all of it but its end is a hole
LARGEST_FILE = 1 << 20

# Of each path its mode, and what is there: the target of a link, the size and the end of a file; None is a folder
State = dict[str, tuple[int, str | tuple[int, bytes] | None]]


class StoppableHost(EmulatedHost):
    """Such a host. Where ``left`` is a list, it gets each state in which a kill of who sends commands may leave it.

    ``own`` is the lab's own folder. For each path of ``places`` scripts find one in the host's folder.
    """

    def __init__(self, folder: Path, commands: Mapping[str, str], real: Sequence[str]):
        super().__init__(folder, commands, real, "server")
        self.left: list[State] | None = None
        self.own = folder / "file-share-lab-01234567"
        self.own.mkdir()
        self.places = {"/proc/self/mounts": "mounts", "/sys/module/": "sys_module_"}

    @abstractmethod
    def is_left_as_it_was(self) -> bool:
        """Whether there is what there was, and nothing else."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        self._note_state()
        for place, pretended in self.places.items():
            argv = tuple(word.replace(place, f"{self.folder}/{pretended}") for word in argv)
        result = super()._execute(argv, root, given, deadline_s, stop_mark)
        self._note_state()
        return result

    def _note_state(self) -> None:
        if self.left is not None and (state := read_state(self.folder)) not in self.left:
            self.left.append(state)


def read_state(folder: Path) -> State:
    """All that is in a host's folder, with the journal of its controller."""
    state: State = {}
    for above, folders, files in os.walk(folder):
        if above == str(folder):
            folders[:], files = sorted(set(folders) - NO_STATE), sorted(set(files) - NO_STATE)
        for name in (*folders, *files):
            path = Path(above, name)
            status = path.lstat()
            content: str | tuple[int, bytes] | None = None
            if path.is_symlink():
                content = str(path.readlink())
            elif name in files:
                content = status.st_size, _read_end(path, status.st_size)
            state[str(path)] = status.st_mode & 0o7777, content
    return state


def _read_end(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(size - 100 if size > LARGEST_FILE else 0)
        return file.read()


def put_state(folder: Path, state: State) -> None:
    """Make a host's folder what it was."""
    for path in folder.iterdir():
        if path.name not in NO_STATE:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, (mode, content) in state.items():  # what is above comes first
        path = Path(name)
        if isinstance(content, str):
            path.symlink_to(content)
            continue
        if content is None:
            path.mkdir()
        else:
            with path.open("wb") as file:
                file.seek(content[0] - len(content[1]))
                file.write(content[1])
        path.chmod(mode)
