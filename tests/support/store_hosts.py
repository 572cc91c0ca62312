"""Servers with emulated commands on which a run makes a store; their controller can be killed at each command."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lab.base.present import present
from lab.hosts import Result
from lab.hosts.hosts_file import ShareConfig
from lab.platforms import Platform
from lab.platforms.linux.platform import Linux
from lab.run.case import made_store
from lab.run.case.made_store import MadeStore
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.stores import FileSystem
from support.fake_host import EmulatedHost

# Programs and their calls: no script reads these
NO_STATE = {"bin", "calls"}
# Images are larger; all but their end is a hole
LARGEST_FILE = 1 << 20

# By path: the mode, and a link's target, or a file's size and end, or None for a folder
State = dict[str, tuple[int, str | tuple[int, bytes] | None]]


class StoppableHost(EmulatedHost):
    """A server. If ``left`` is a list, it collects each state that a kill of the controller may leave.

    ``own`` is the lab's own folder. Scripts find each path of ``places`` in the host's folder.
    """

    def __init__(self, folder: Path, commands: Mapping[str, str], real: Sequence[str]):
        super().__init__(folder, commands, real, "server")
        self.left: list[State] | None = None
        self.before: tuple[object, ...] = ()
        self.own = folder / "file-share-lab-01234567"
        self.own.mkdir()
        (folder / "free").write_text("4194304\n")  # KiB
        self.places = {"/proc/self/mounts": "mounts", "/sys/module/": "sys_module_"}

    def state(self) -> tuple[object, ...]:
        """What a store changes: it must be as ``before`` in the end."""
        raise NotImplementedError

    def is_left_as_it_was(self) -> bool:
        return self.state() == self.before

    def loops(self) -> dict[str, str]:
        """What is below each loop device, by its name."""
        paths = sorted((self.folder / "sys").glob("*/loop/backing_file"))
        return {path.parent.parent.name: path.read_text().strip() for path in paths}

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
    """All that is in a host's folder, with its controller's journal."""
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
                with path.open("rb") as file:
                    file.seek(status.st_size - 100 if status.st_size > LARGEST_FILE else 0)
                    content = status.st_size, file.read()
            state[str(path)] = status.st_mode & 0o7777, content
    return state


def put_state(folder: Path, state: State) -> None:
    for path in folder.iterdir():
        if path.name not in NO_STATE:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, (mode, content) in state.items():  # folders come before their content
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


GIB = 1 << 30


class StoreLab:
    """A run's settings on such a host, with a journal on disk, and the store that it makes."""

    platform: type[Platform] = Linux
    share = ShareConfig(serve="lab", account="lab", image_size=GIB)

    def __init__(self, host: StoppableHost, store: FileSystem, levels: Mapping[str, str]):
        self.host, self.store, self.levels = host, store, levels
        self.path = host.folder / "journal.jsonl"
        self.settings = self.begin()

    def begin(self) -> Settings:
        """The settings of a process: a run, or a later `lab restore`."""
        return Settings({"server": self.host}, Journal(self.path, line_format()), patience_s=0)

    def put(self, name: str, text: str = "") -> None:
        """Write a file that tells the host's programs what to do."""
        (self.host.folder / name).write_text(text)

    def restore(self, settings: Settings | None = None) -> None:
        """Put everything back, and see the host as it was."""
        (settings or self.settings).unwind()
        assert self.host.is_left_as_it_was()

    def make(self, levels: Mapping[str, str] | None = None) -> MadeStore:
        """Make the store, with these levels of its options or its usual ones."""
        levels = self.levels if levels is None else levels
        steps = made_store.make(self.platform(self.host), self.store, str(self.host.own), self.share, levels)
        return self.settings.follow(steps)

    def make_and_forget(self) -> None:
        """Make the store, and drop the files from its own memory."""
        present(self.make().forget).run(self.host)


def kill_at_each_command(lab: StoreLab, act: Callable[[StoreLab], object]) -> None:
    """`lab restore` cleans up after a kill before or after any command.

    All that a kill leaves is on the host and in the journal: put each such state there again, and restore it.
    """
    left: list[State] = []
    lab.host.left = left
    act(lab)
    lab.host.left = None
    left_behind = 0
    for number, state in enumerate(left):
        put_state(lab.host.folder, state)
        left_behind += not lab.host.is_left_as_it_was()
        lab.begin().unwind()
        assert lab.host.is_left_as_it_was(), f"killed in state {number} of {len(left)}"
        assert not Journal(lab.path, line_format()).open
    assert left_behind > 2, "and there was something to put back"


REAL = (
    "sh", "cat", "chmod", "cut", "dirname", "false", "grep", "mkdir", "mv", "rm", "rmdir", "sed", "sleep", "stat",
    "tail", "touch", "true", "truncate",
)  # fmt: skip
MKFS = """
[ ! -e mkfs.fails ] || { echo "mkfs: Filesystem must be larger than 300MB." >&2; exit 1; }
for image; do :; done
echo "formatted" >> "$image"
"""
# -t KIND -o OPTIONS IMAGE FOLDER
MOUNT = """
number=0
while [ -e "sys/loop$number" ]; do number=$((number + 1)); done
mkdir -p "sys/loop$number/loop"
image=$5
[ ! -e mount.takes_another ] || image=/home/ann/photos.img
echo "$image" > "sys/loop$number/loop/backing_file"
echo 1 > "sys/loop$number/loop/autoclear"
echo "/dev/loop$number $6 $2 rw,${4#loop,} 0 0" >> mounts
"""
UMOUNT = """
[ ! -e busy ] || { echo "umount: $1: target is busy." >&2; exit 32; }
device=$(grep -F " $1 " mounts | tail -n 1 | cut -d' ' -f1)
[ "$device" ] || exit 32
grep -v "^$device $1 " mounts > mounts.new
mv mounts.new mounts
[ "$(cat "sys/${device##*/}/loop/autoclear")" = 0 ] || rm -r "sys/${device##*/}"
"""
# … make PATH BYTES SEED
FILL = """
while [ "$1" != make ]; do shift; done
echo noise > "$2"
[ -e fill.takes_no_room ] || { read -r kib < free; echo $((kib - $3 / 1024)) > free; }
"""
DF = """
echo "Filesystem 1024-blocks Used Available Capacity Mounted on"
echo "/dev/sda1 9999999 1 $(cat free) 1% /"
"""
PROGRAMS = {
    "mkfs.ext4": MKFS,
    "mount": MOUNT,
    "umount": UMOUNT,
    "losetup": 'rm -r "sys/${2##*/}"',  # -d DEVICE
    "chown": 'echo "$1" > owner',
    "modprobe": """
case $* in
loop) mkdir sys_module_loop ;;
"-r loop") [ -e busy_module ] || rmdir sys_module_loop ;;
esac
""",
    "perl": FILL,
    "id": "echo 1000",
    "df": DF,
    "tune2fs": 'echo "Block size:               4096"',
    "sleep": ":",
    "sync": '[ "$1" = -f ]',
}


class LoopHost(StoppableHost):
    """A Linux host with loop devices on which Ann has mounted an image; without her, the module loop is not loaded."""

    def __init__(self, folder: Path, has_ann: bool = True):
        super().__init__(folder, PROGRAMS, REAL)
        self.places |= {"/sys/block": "sys", "/proc/fs/ext4/${device##*/}/options": "proc_ext4_options"}
        (folder / "proc_ext4_options").write_text("rw\ndata=ordered\n")
        (folder / "mounts").touch()
        if has_ann:
            (folder / "sys_module_loop").mkdir()
            self.attach("loop0", "/home/ann/photos.img", "/mnt/ann")
        self.before = self.state()

    def attach(self, name: str, image: str, mounted_at: str = "") -> None:
        """A loop device over an image, mounted if a folder is given."""
        loop = self.folder / "sys" / name / "loop"
        loop.mkdir(parents=True)
        (loop / "backing_file").write_text(f"{image}\n")
        (loop / "autoclear").write_text("1\n")
        with (self.folder / "mounts").open("a") as table:
            table.write(f"/dev/{name} {mounted_at} ext4 rw 0 0\n" if mounted_at else "")

    def table(self) -> list[str]:
        return [" ".join(line.split(" ")[:3]) for line in (self.folder / "mounts").read_text().splitlines()]

    def state(self) -> tuple[object, ...]:
        images = [path.name for path in self.own.iterdir() if path.is_file()]
        return self.loops(), self.table(), images, (self.folder / "sys_module_loop").exists()
