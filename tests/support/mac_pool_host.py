"""A Mac with OpenZFS on OS X: a pool is a line of ``pools``, its name and its device; its properties are in a file."""

from pathlib import Path

from support import mac_image_host
from support.mac_image_host import MacImageHost

ZPOOL = """
[ ! -e unloaded ] || { echo "The ZFS modules are not loaded." >&2; exit 1; }
case $1 in
list)
    case $2 in
    -HvP) sed -n "s|^$3 \\(.*\\)|$3\\tx\\n\\t\\1\\tx|p" pools ;;
    *) if [ "$4" = name ]; then cut -d ' ' -f 1 pools; else echo ONLINE; fi ;;
    esac ;;
create)
    [ ! -e pool.fails ] || { echo "cannot create: invalid argument" >&2; exit 1; }
    type=zfs; : > properties
    while [ $# -gt 3 ]; do
        case $2 in
        -m) place=$3 ;;
        -O) [ "${3#com.apple.mimic}" = "$3" ] || type=hfs ;;
        esac
        echo "$3" >> properties; shift 2
    done
    shift
    echo "$1 $2$(cat partition)" >> pools
    echo "$1 on $place ($type, local, journaled, noatime)" >> mounts
    echo "$place $type" > place ;;
export | destroy)
    ! grep -q "^$2 on .* (hfs" mounts || { echo "cannot $1 '$2': pool is busy" >&2; exit 1; }
    grep -v "^$2 on " mounts > left; mv left mounts
    [ "$1" = destroy ] || grep "^$2 " pools > exported
    grep -v "^$2 " pools > left; mv left pools; [ ! -e swap ] || cp swap pools ;;
import)
    cat exported >> pools
    read -r place type < place
    echo "$6 on $place ($type, local, journaled, noatime)" >> mounts ;;
get) printf '%s\\tashift\\t%s\\tlocal\\n' "$4" "$(sed -n 's/^ashift=//p' properties)" ;;
*) echo "zpool: not emulated: $*" >&2; exit 1 ;;
esac
"""
ZFS = """
case $1 in
version) echo zfs-2.2.3-1 ;;
get)
    if [ $# = 1 ]; then
        printf '\\tatime          YES\\n\\t%s  YES\\n' "$(cat mimic)" >&2
        printf '\\tcom.apple.devdisk  YES\\n' >&2
        exit 2
    fi
    printf '%s\\tcasesensitivity\\t%s\\t-\\n' "$4" "$(sed -n 's/^casesensitivity=//p' properties)"
    printf '%s\\tcompression\\t%s\\tdefault\\n' "$4" "$(sed -n 's/^compression=//p;$s/.*/on/p' properties | sed 1q)" ;;
esac
"""
PROGRAMS = mac_image_host.PROGRAMS | {"zpool": ZPOOL, "zfs": ZFS, "sw_vers": "cat version"}
ANNS = "tank /dev/disk7s1\n"


class MacPoolHost(MacImageHost):
    """Such a Mac, of macOS 10.13. Ann has a pool on her image."""

    def __init__(self, folder: Path):
        super().__init__(folder, PROGRAMS, (*mac_image_host.REAL, "awk", "cp"))
        for name, text in {"pools": ANNS, "partition": "s1", "mimic": "com.apple.mimic", "version": "10.13.6"}.items():
            (folder / name).write_text(text)
        self.before = self.state()

    def state(self) -> tuple[object, ...]:
        """The pools, too."""
        pools = self.folder / "pools"
        return (*super().state(), pools.read_text() if pools.exists() else "")
