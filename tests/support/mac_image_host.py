"""A Mac whose disk images are files in a folder: hdiutil, newfs_hfs, diskutil and mount change nothing else."""

import os
from collections.abc import Mapping
from pathlib import Path

from support.stoppable_host import StoppableHost

REAL = (
    "sh", "cat", "chmod", "chown", "cut", "false", "grep", "head", "mkdir", "mv", "perl", "rm", "rmdir", "sed", "sleep",
    "tail", "touch", "true", "truncate",
)  # fmt: skip
# A line of `images`: its path, whose it is, its device, and the disk that APFS makes up
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
    printf '<plist version="1.0"><dict><key>framework</key><string>683</string><key>images</key><array>'
    while read -r path owner device made_up; do
        printf '<dict><key>image-path</key><string>%s</string>' "$path"
        printf '<key>blockcount</key><integer>%s</integer>' "$(cat sectors)"
        printf '<key>owner-uid</key><integer>%s</integer><key>system-entities</key><array><dict>' "$owner"
        printf '<key>content-hint</key><string></string><key>dev-entry</key><string>%s</string>' "$device"
        sed -n "s|^$device on \\(.*\\) (.*|<key>mount-point</key><string>\\1</string>|p" mounts
        printf '</dict>'
        if [ -n "$made_up" ]; then
            printf '<dict><key>content-hint</key><string>41504653-0000-11AA-AA11-00306543ECAC</string>'
            printf '<key>dev-entry</key><string>/dev/%ss1</string>' "$made_up"
            sed -n "s|^/dev/${made_up}s1 on \\(.*\\) (.*|<key>mount-point</key><string>\\1</string>|p" mounts
            printf '</dict>'
        fi
        printf '</array></dict>'
    done < images
    echo '</array></dict></plist>' ;;
detach)
    ! grep -q "^$2\\(s1\\)\\{0,1\\} on " mounts || { echo "hdiutil: couldn't eject - Resource busy" >&2; exit 16; }
    grep -v " $2\\( .*\\)\\{0,1\\}$" images > left; mv left images ;;
esac
"""
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
    "id": "cat owner_of_images", "chown": ":",
    "df": """
echo "Filesystem 1024-blocks Used Available Capacity Mounted on"
echo "/dev/disk3s5 9999999 1 4194304 1% /"
""",
}  # fmt: skip
ANNS = "/Users/ann/photos.dmg 502 /dev/disk7\n"


class MacImageHost(StoppableHost):
    """Such a Mac. Ann has an image of her own attached."""

    def __init__(self, folder: Path, programs: Mapping[str, str] = PROGRAMS, real: tuple[str, ...] = REAL):
        super().__init__(folder, dict(programs), real)
        (folder / "images").write_text(ANNS)
        (folder / "mounts").write_text("/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled)\n")
        (folder / "sectors").write_text("1024\n")
        (folder / "owner_of_images").write_text(f"{os.getuid()}\n")
        self.before = self.state()

    def state(self) -> tuple[object, ...]:
        """What is attached, what is mounted, and the images of the lab's own."""
        images = [path.name for path in self.own.iterdir() if path.name != "store"]
        return (self.folder / "images").read_text(), (self.folder / "mounts").read_text(), images

    def is_left_as_it_was(self) -> bool:
        """Whether there is what there was, and nothing else."""
        return self.state() == self.before
