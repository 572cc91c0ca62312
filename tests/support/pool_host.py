"""A Linux host whose ZFS pools are files in a folder; its zpool and zfs accept only words of OpenZFS 2.3.

Its loop devices are folders in ``sys``, their nodes files with numbers. A pool is a folder in ``pools`` or, when
exported, in ``exported``: ``devices``, ``group``, ``health`` and ``properties``."""

import shutil
from pathlib import Path

from lab.hosts import Result
from support.store_hosts import DF, StoppableHost

REAL = ("sh", "cat", "chmod", "cut", "grep", "ln", "ls", "mkdir", "mv", "rm", "rmdir", "sed", "truncate")
BEGIN = """
fail() { echo "cannot $verb '$name': $*" >&2; exit 1; }
[ -d sys_module_zfs ] || { echo "The ZFS modules cannot be auto-loaded." >&2; exit 1; }
[ ! -e broken ] || { echo "Unable to open /dev/zfs." >&2; exit 1; }
verb=$1; shift
"""
ZPOOL = """
is_there() { [ -d "pools/$name" ] || fail "no such pool"; }
is_running() { is_there; [ "$(cat "pools/$name/health")" != SUSPENDED ] || fail "pool I/O is currently suspended"; }
unmount() {
    [ ! -e busy ] || fail "pool or dataset is busy"
    grep -v "^$name " mounts > mounts.new
    mv mounts.new mounts
}
mount() {
    path=$(sed -n "s/^mountpoint=//p" "pools/$name/properties")
    [ -z "$(ls -A "$path")" ] || [ "$verb" = import ] || fail "directory is not empty"
    echo "$name $path zfs rw,nosuid,nodev,noatime,xattr,noacl,casesensitive 0 0" >> mounts
}
create() {
    properties=
    while :; do
        case $1 in
        -o | -O) properties="$properties$2
"; shift 2 ;;
        -m) properties="${properties}mountpoint=$2
"; shift 2 ;;
        -*) echo "invalid option '$1'" >&2; exit 99 ;;
        *) break ;;
        esac
    done
    name=$1; shift
    [ ! -d "pools/$name" ] || fail "pool already exists"
    [ ! -e refuse ] || fail "one or more devices is less than the minimum size (64M)"
    group=
    case $1 in mirror | raidz | raidz2 | raidz3) group=$1; shift ;; esac
    for file; do
        [ -f "$file" ] || fail "no such device in /dev"
        [ "$(stat -c %s "$file")" -ge 67108864 ] || fail "one or more devices is less than the minimum size (64M)"
        ! grep -rqxF "$file" pools/*/devices || fail "$file is part of active pool"
    done
    mkdir "pools/$name"
    [ ! -e create.takes_another ] || set -- /home/ann/disk
    printf "%s\\n" "$@" > "pools/$name/devices"
    echo "$group" > "pools/$name/group"
    echo ONLINE > "pools/$name/health"
    printf "%s" "$properties" > "pools/$name/properties"
    mount
}
group_of() { sed 's/^raidz$/raidz1/; s/$/-0/' "pools/$name/group"; }
list_devices() {
    is_there
    printf "$name\t1G\t1M\t1023M\t-\t-\t0%%\t0%%\t1.00x\t$(cat "pools/$name/health")\t-\n"
    [ "$(group_of)" = -0 ] || printf "\t$(group_of)\t1G\t1M\t1023M\t-\t-\t0%%\t0%%\t-\tONLINE\n"
    sed "s/^/\t/; s/$/\t1G\t-\t-\t-\t-\t-\t-\t-\tONLINE/" "pools/$name/devices"
}
values() { # $1 the property, $2 that of devices
    [ "$(group_of)" = -0 ] || printf "$(group_of)\t$1\t$2\n"
    sed "s/$/\t$1\t$2/" "pools/$name/devices"
}
get() {
    is_there
    case $1 in
    ashift)
        ashift=$(sed -n "s/^ashift=//p" "pools/$name/properties")
        [ "$2" ] || { printf "$name\tashift\t${ashift:-0}\n"; exit; }
        printf "root-0\tashift\t-\n"
        values ashift "${ashift:-9}"
        ;;
    read_bytes,write_bytes) values read_bytes 1000; values write_bytes "$(cat "pools/$name/written" || echo 0)" ;;
    *) exit 99 ;;
    esac
}
words="$verb $*"
case $words in
"list -H -o name") ls pools ;;
"list -HvP "*) name=$2; list_devices ;;
"list -H -o health "*) name=$4; is_there; cat "pools/$name/health" ;;
"create "*) create "$@" ;;
"destroy "*) name=$1; is_running; unmount; rm -r "pools/$name" ;;
"clear "*) name=$1; is_there; [ -e full ] || echo ONLINE > "pools/$name/health" ;;
"export "*) name=$1; is_running; unmount; mv "pools/$name" exported ;;
"import -d "*" -o cachefile=none "*)
    name=$5
    [ -d "exported/$name" ] && grep -qF "$2/" "exported/$name/devices" || fail "no such pool available"
    [ ! -e refuse ] || fail "one or more devices is currently unavailable"
    mv "exported/$name" pools
    mount
    ;;
"sync "*) name=$1; is_running ;;
"get -Hp -o name,property,value "*) name=$5; [ ! -e old ] || [ -z "$6" ] || { name=$6; is_there; }; get "$4" "$6" ;;
*) echo "zpool: not emulated: $words" >&2; exit 99 ;;
esac
"""
ZFS = """
[ "$verb $1 $2 $3 $4" = "get -Hp -o name,property,value sync,compression,recordsize,atime" ] || exit 99
name=$5
for usual in sync=standard compression=on recordsize=131072 atime=on; do
    key=${usual%=*}
    value=$(sed -n "s/^$key=//p" "pools/$name/properties")
    [ ! -e ignored ] || [ "$key" != "$(cat ignored)" ] || value=
    printf "$name\t$key\t${value:-${usual#*=}}\n"
done
"""
LOSETUP = """
attach() { # $1 bytes of a sector, $2 what is below
    [ ! -e no_loops ] || { echo "losetup: cannot find an unused loop device" >&2; exit 1; }
    number=0
    while [ -e "sys/loop$number" ]; do number=$((number + 1)); done
    mkdir -p "sys/loop$number/loop" "sys/loop$number/queue"
    [ ! -e losetup.takes_another ] || set -- "$1" /home/ann/disk
    echo "$2" > "sys/loop$number/loop/backing_file"
    echo "$1" > "sys/loop$number/queue/logical_block_size"
    echo "7:$number" > "sys/loop$number/dev"
    echo "5 0 32 0 7 0 48 0 0 0 0 0 0 0 0 0 0" > "sys/loop$number/stat"
    ln -s "../sys/loop$number" "sys_dev/7:$number"
    echo "/dev/loop$number"
}
case $* in
"--find --show --sector-size "*) attach "$4" "$5" ;;
"--find --show /dev/loop"*) attach 512 "$3" ;;
"-d "*)
    ! grep -lx "$2" sys/loop*/loop/backing_file || { echo "losetup: $2: Device or resource busy" >&2; exit 1; }
    read -r numbers < "sys/${2##*/}/dev"
    rm -r "sys/${2##*/}" "sys_dev/$numbers"
    ;;
*) echo "losetup: not emulated: $*" >&2; exit 99 ;;
esac
"""
STAT = f"""
case $2 in
0x*) read -r major minor < "$3"; printf '0x%x:0x%x\\n' "$major" "$minor" ;;
*) case $3 in */dev/file-share-lab-*) echo 1073741824 ;; *) exec {shutil.which("stat")} "$@" ;; esac ;;
esac
"""
PROGRAMS = {
    "losetup": LOSETUP,
    "stat": STAT,
    "blockdev": '[ "$1 $2" = "--setra 0" ]',
    "mknod": 'echo "$5 $6" > "$3"',  # -m MODE NODE b MAJOR MINOR
    "sync": '[ -d "sys/${1##*/}" ]',
    "zpool": BEGIN + ZPOOL,
    "zfs": BEGIN + ZFS,
    "chown": 'echo "$1" > owner',
    "modprobe": """
case $* in
zfs) mkdir sys_module_zfs; echo 2.3.9-1 > sys_module_zfs/version ;;
loop) mkdir sys_module_loop ;;
"-r zfs") [ "$(ls pools)" ] || rm -r sys_module_zfs ;;
"-r loop") [ "$(ls sys)" ] || rm -r sys_module_loop ;;
esac
""",
    "id": "echo 1000",
    "df": DF,
    "sleep": ":",
}


class PoolHost(StoppableHost):
    """A host on which Ann has a pool of her own; without her, the module of ZFS is not loaded."""

    def __init__(self, folder: Path, has_ann: bool = True):
        super().__init__(folder, PROGRAMS, REAL)
        self.places |= {"/sys/block": "sys", "/sys/dev/block": "sys_dev", "/dev/file-share-lab-": "dev/file-share-lab-"}
        self.nodes = folder / "dev" / self.own.name
        for name in ("dev", "sys", "sys_dev"):
            (folder / name).mkdir()
        (folder / "mounts").touch()
        (folder / "pools").mkdir()
        (folder / "exported").mkdir()
        if has_ann:
            (folder / "sys_module_zfs").mkdir()
            (folder / "sys_module_zfs" / "version").write_text("2.3.9-1\n")
            self.import_pool("tank", "/dev/sda")
        self.before = self.state()

    def import_pool(self, name: str, *devices: str) -> None:
        pool = self.folder / "pools" / name
        pool.mkdir()
        texts = {"devices": "\n".join(devices), "group": "", "health": "ONLINE", "properties": "mountpoint=/tank"}
        for file, text in texts.items():
            (pool / file).write_text(f"{text}\n")

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        is_node = '[ "${1%/dev/file-share-lab-*}" != "$1" ] && [ -e "$1" ]'
        argv = tuple(word.replace('[ -b "$1" ]', is_node) for word in argv)
        return super()._execute(argv, root, given, deadline_s, stop_mark)

    def attach(self, image: str, sector_bytes: int = 512) -> str:
        """A new loop device over an image or another loop; its name."""
        number = len(list((self.folder / "sys").iterdir()))
        words = [] if image.startswith("/dev/") else ["--sector-size", str(sector_bytes)]
        self.run("losetup", "--find", "--show", *words, image)
        return f"loop{number}"

    def state(self) -> tuple[object, ...]:
        """Pools with their devices, mounts, files, loops, and loaded modules."""
        pools = {pool.name: (pool / "devices").read_text() for pool in sorted((self.folder / "pools").iterdir())}
        files = sorted(str(path) for path in self.own.rglob("*") if path.name.startswith(("vdev", "store.vdevs")))
        modules = [path.name for path in sorted(self.folder.glob("sys_module_*"))]
        loops = self.loops(), [path.name for path in (self.folder / "dev").iterdir()]
        return pools, (self.folder / "mounts").read_text(), files, loops, modules
