"""Emulated Macs whose disk images, and pools of OpenZFS on OS X, are files in a folder.

In ``images`` a line has the path, the owner, the device, and the disk that APFS makes; in ``pools`` name and device."""

import os
from collections.abc import Mapping
from pathlib import Path

from support.emulated_mac import hdiutil_info
from support.store_hosts import DF, StoppableHost

REAL = (
    "sh", "cat", "chmod", "chown", "cut", "false", "grep", "head", "mkdir", "mv", "perl", "rm", "rmdir", "sed", "sleep",
    "tail", "touch", "true", "truncate",
)  # fmt: skip
HDIUTIL = """
case $1 in
create) # -quiet -sectors N -type KIND -layout NONE PATH
    [ ! -e create.fails ] || { echo "hdiutil: create failed - No space left on device" >&2; exit 1; }
    [ ! -e "$9" ] && [ ! -L "$9" ] || { echo "hdiutil: create failed - File exists" >&2; exit 1; }
    echo "$4" > sectors
    case $6 in
    SPARSE) printf sprs > "$9" ;;
    SPARSEBUNDLE) mkdir -p "$9/bands"; touch "$9/bands/0" ;;
    UDIF) truncate -s $(($4 * 512)) "$9" ;;
    esac ;;
attach) # -nomount PATH
    owner=$(cat owner_of_images)
    echo "$3 $owner /dev/disk4" >> images; printf '/dev/disk4          \\t \\t\\n' ;;
info)
    if [ "$2" != -plist ]; then
        while read -r path owner device made_up; do
            printf '%s\nimage-path      : %s\nmounting user   : x\n' ================ "$path"
            printf '%s\t\t\n' "$device"
        done < images
        exit
    fi
    INFO ;;
detach)
    ! grep -q "^$2\\(s1\\)\\{0,1\\} on " mounts || { echo "hdiutil: couldn't eject - Resource busy" >&2; exit 16; }
    grep -v " $2\\( .*\\)\\{0,1\\}$" images > left; mv left images ;;
esac
""".replace("INFO", hdiutil_info("$image", "$(cat sectors)", r" on \(.*\) (.*"))
DISKUTIL = """
case "$*" in
"apfs list") [ ! -e no_apfs ] ;;
"apfs createContainer /dev/disk4")
    sed 's|/dev/disk4$|/dev/disk4 disk9|' images > changed; mv changed images
    echo "Disk from APFS operation: disk9" ;;
"apfs addVolume disk9 "*" lab -nomount")
    echo "$4" > personality; echo "Disk from APFS operation: disk9s1" ;;
"info -plist "*)
    printf '<?xml version="1.0"?><plist version="1.0"><dict><key>FilesystemName</key>'
    printf '<string>%s</string></dict></plist>\\n' "$(cat personality)" ;;
*) echo "diskutil: not emulated: $*" >&2; exit 1 ;;
esac
"""
NEWFS_HFS = """
name=HFS+; for word; do case $word in -s) name="Case-sensitive $name" ;; -J) touch journaled ;; esac; done
echo "$name" > personality
"""
# -t KIND -o OPTIONS DEVICE FOLDER
MOUNT = """
[ $# -gt 0 ] || { cat mounts; exit; }
journal=; [ ! -e journaled ] || journal=", journaled"
echo "$5 on $6 ($2, local$journal, $4)" >> mounts
"""
PROGRAMS = {
    "hdiutil": HDIUTIL, "diskutil": DISKUTIL, "newfs_hfs": NEWFS_HFS, "mount": MOUNT, "mdutil": ":", "sleep": ":",
    "umount": 'grep -vF " on $1 (" mounts > left; mv left mounts',
    "id": "cat owner_of_images", "chown": ":", "df": DF,
}  # fmt: skip
ANNS = "/Users/ann/photos.dmg 502 /dev/disk7\n"


class MacImageHost(StoppableHost):
    """A Mac on which Ann has attached a disk image of her own."""

    def __init__(self, folder: Path, programs: Mapping[str, str] = PROGRAMS, real: tuple[str, ...] = REAL):
        super().__init__(folder, dict(programs), real)
        (folder / "images").write_text(ANNS)
        (folder / "mounts").write_text("/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled)\n")
        (folder / "sectors").write_text("1024\n")
        (folder / "owner_of_images").write_text(f"{os.getuid()}\n")
        self.before = self.state()

    def state(self) -> tuple[object, ...]:
        images = [path.name for path in self.own.iterdir() if path.name != "store"]
        return (self.folder / "images").read_text(), (self.folder / "mounts").read_text(), images


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
POOL_PROGRAMS = PROGRAMS | {"zpool": ZPOOL, "zfs": ZFS, "sw_vers": "cat version"}
ANNS_POOL = "tank /dev/disk7s1\n"


class MacPoolHost(MacImageHost):
    """A Mac with macOS 10.13 on which Ann has a pool of her own."""

    def __init__(self, folder: Path):
        super().__init__(folder, POOL_PROGRAMS, (*REAL, "awk", "cp"))
        texts = {"pools": ANNS_POOL, "partition": "s1", "mimic": "com.apple.mimic", "version": "10.13.6"}
        for name, text in texts.items():
            (folder / name).write_text(text)
        self.before = self.state()

    def state(self) -> tuple[object, ...]:
        pools = self.folder / "pools"
        return (*super().state(), pools.read_text() if pools.exists() else "")
