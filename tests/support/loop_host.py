"""A Linux host with loop devices that are files in a folder: mkfs, mount, umount and losetup change nothing else."""

from pathlib import Path

from support.stoppable_host import StoppableHost

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
    "df": """
for path; do :; done
echo "Filesystem 1024-blocks Used Available Capacity Mounted on"
echo "/dev/sda1 9999999 1 $(cat free) 1% /"
""",
    "tune2fs": 'echo "Block size:               4096"',
    "sleep": ":",
    "sync": '[ "$1" = -f ]',
}


class LoopHost(StoppableHost):
    """Such a host. Ann has an image of her own, mounted; without her the module of loops is not loaded."""

    def __init__(self, folder: Path, has_ann: bool = True):
        super().__init__(folder, PROGRAMS, REAL)
        self.places |= {
            "/sys/block": "sys",
            "/proc/fs/ext4/${device##*/}/options": "proc_ext4_options",
        }
        (folder / "free").write_text("4194304\n")
        (folder / "proc_ext4_options").write_text("rw\ndata=ordered\n")
        (folder / "mounts").touch()
        if has_ann:
            (folder / "sys_module_loop").mkdir()
            self.attach("loop0", "/home/ann/photos.img", "/mnt/ann")
        self.before = self.state()

    def attach(self, name: str, image: str, mounted_at: str = "", autoclear: int = 1) -> None:
        """A loop over an image, mounted where that is said."""
        loop = self.folder / "sys" / name / "loop"
        loop.mkdir(parents=True)
        (loop / "backing_file").write_text(f"{image}\n")
        (loop / "autoclear").write_text(f"{autoclear}\n")
        with (self.folder / "mounts").open("a") as table:
            table.write(f"/dev/{name} {mounted_at} ext4 rw 0 0\n" if mounted_at else "")

    def loops(self) -> dict[str, str]:
        """The image of each loop, by its name."""
        return {
            path.parent.parent.name: path.read_text().strip()
            for path in sorted((self.folder / "sys").glob("*/loop/backing_file"))
        }

    def table(self) -> list[str]:
        """The table of mounts, without options."""
        return [" ".join(line.split(" ")[:3]) for line in (self.folder / "mounts").read_text().splitlines()]

    def state(self) -> tuple[object, ...]:
        """Loops, mounts, images of the lab's own, and whether the module is loaded."""
        images = [path.name for path in self.own.iterdir() if path.is_file()]
        return self.loops(), self.table(), images, (self.folder / "sys_module_loop").exists()

    def is_left_as_it_was(self) -> bool:
        """Whether there is what there was, and nothing else."""
        return self.state() == self.before
