"""An emulated Mac: the commands that the lab uses, with their exit codes, refusals and delays."""

import os
from collections.abc import Mapping
from pathlib import Path

from lab.hosts import Host
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from support.fake_host import EmulatedHost
from support.paths import MACOS_CAPTURES
from support.paths import capture as capture

REAL = (
    "sh", "env", "sed", "grep", "cat", "perl", "id", "touch", "chmod", "chown", "mkdir", "mv", "mktemp", "head", "rm",
    "sleep", "awk", "ps", "rmdir",
)  # fmt: skip
# State is in files of the folder that they run in. ERA is 10.6 (to 10.9), 10.10 (to 14.3) or 26.
IFCONFIG = """
if [ "$2" = mtu ]; then
    if [ "$3" -le 9000 ]; then echo "$3" > mtu; echo 2 > flaps
    else echo "ifconfig: ioctl (set mtu): Invalid argument" >&2; fi
    exit 0
fi
flaps=$(cat flaps); status=active
if [ "$flaps" -gt 0 ]; then status=inactive; echo $((flaps - 1)) > flaps; fi
sed "1s/mtu 1500/mtu $(cat mtu)/; s/status: active/status: $status/" "$MACOS_CAPTURES/ifconfig-10gbase-t.txt"
"""
SYSCTL = """
bare= write= code=0
for word in "$@"; do
    case $word in -n) bare=1; continue ;; -w) write=1; continue ;; esac
    name=${word%%=*}; new=${word#*=}; old=$(sed -n "s/^$name //p" values)
    if [ -z "$old" ]; then
        if [ $ERA = 10.6 ]; then echo "net: class is not implemented" >&2; continue; fi
        echo "sysctl: unknown oid '$name'" >&2; code=1; [ $ERA = 10.10 ] && exit 1; continue
    fi
    if [ "$name" = "$word" ]; then [ -n "$bare" ] && echo "$old" || echo "$name: $old"; continue; fi
    if [ $ERA = 10.6 ] && [ -z "$write" ]; then echo "sysctl: must specify -w to set variables" >&2; exit 2; fi
    if [ "$new" -gt 7454720 ]; then
        if [ $ERA = 10.6 ]; then echo "$name: $old"; echo "sysctl: $name: Result too large" >&2; continue; fi
        echo "sysctl: $word: Result too large" >&2; code=1; continue
    fi
    { grep -v "^$name " values; echo "$name $new"; } > changed; mv changed values
    echo "$name: $old -> $new"
done
exit $code
"""
# `hdiutil info -plist` for a table of images: image, owner, device, and the disk that APFS made
HDIUTIL_INFO = """
    printf '<plist version="1.0"><dict><key>framework</key><string>683.100.3</string><key>images</key><array>'
    while read -r image owner device made_up; do
        printf '<dict><key>blockcount</key><integer>%s</integer><key>diskimages2</key><false/>' "SECTORS"
        printf '<key>image-path</key><string>%s</string>' "PATH"
        printf '<key>owner-uid</key><integer>%s</integer><key>system-entities</key><array><dict>' "$owner"
        printf '<key>content-hint</key><string></string><key>dev-entry</key><string>%s</string>' "$device"
        sed -n "s|^${device}MOUNTED|<key>mount-point</key><string>\\1</string>|p" mounts
        printf '</dict>'
        if [ -n "$made_up" ]; then
            printf '<dict><key>content-hint</key><string>EF57347C-0000-11AA-AA11-00306543ECAC</string>'
            printf '<key>dev-entry</key><string>/dev/%s</string></dict>' "$made_up"
            printf '<dict><key>content-hint</key><string>41504653-0000-11AA-AA11-00306543ECAC</string>'
            printf '<key>dev-entry</key><string>/dev/%ss1</string>' "$made_up"
            sed -n "s|^/dev/${made_up}s1MOUNTED|<key>mount-point</key><string>\\1</string>|p" mounts
            printf '</dict>'
        fi
        printf '</array></dict>'
    done < images
    echo '</array></dict></plist>'"""


def hdiutil_info(path: str, sectors: str, mounted: str) -> str:
    """The script with the path and size of an image, and the pattern of a line of ``mounts`` after the device."""
    return HDIUTIL_INFO.replace("PATH", path).replace("SECTORS", sectors).replace("MOUNTED", mounted)


HDIUTIL = """
case $1 in
attach)
    echo "${3#ram://} $OWNER /dev/disk4" >> images
    printf '/dev/disk4          \\t                               \\t\\n' ;;
info)
    INFO ;;
detach)
    busy=$(cat busy)
    if [ "$busy" -gt 0 ] && [ "$3" != -force ]; then
        echo $((busy - 1)) > busy; echo "hdiutil: couldn't eject \\"disk4\\" - Resource busy" >&2; exit 16
    fi
    grep -v " $2\\( .*\\)\\{0,1\\}$" images > left; mv left images
    grep -v "^$2 " mounts > left; mv left mounts ;;
esac
""".replace("INFO", hdiutil_info("ram://$image", "$image", r" \(.*\)"))
# APFS adds disks of its own on an image: disk9 and its volume disk9s1
DISKUTIL = """
case "$*" in
"apfs createContainer /dev/disk4")
    sed 's|/dev/disk4$|/dev/disk4 disk9|' images > changed; mv changed images
    echo "Creating APFS Container"; echo "Created new APFS Container disk9"
    echo "Disk from APFS operation: disk9"; echo "Finished APFS operation on disk4" ;;
"apfs addVolume disk9 APFS lab -nomount")
    echo "Exporting new APFS Volume"; echo "Disk from APFS operation: disk9s1" ;;
*) echo "Could not find APFS Container Reference" ; exit 1 ;;
esac
"""
# Spotlight indexes new volumes. With the word "stubborn" in the file it cannot be switched off
MDUTIL = """
case $1 in
-i) [ "$(cat indexing)" = stubborn ] || echo disabled > indexing ;;
-s) state=$(cat indexing); echo "$2:"; printf '\\tIndexing %s.\\n' "$(echo "$state" | sed s/stubborn/enabled/)" ;;
esac
"""
MAC = {
    "ifconfig": IFCONFIG,
    "sysctl": SYSCTL,
    "hdiutil": HDIUTIL,
    "newfs_hfs": 'echo "Initialized $3 as a 64 MB case-insensitive HFS Plus volume"',
    "mount": 'if [ $# = 0 ]; then sed "s/ / on /; s/$/ (hfs, local, noatime)/" mounts; else echo "$5 $6" >> mounts; fi',
    "diskutil": DISKUTIL,
    "mdutil": MDUTIL,
    "umount": 'grep -v " $1$" mounts > left; mv left mounts',
    "vm_stat": 'cat "$MACOS_CAPTURES/vm_stat-16k-pages.txt"',
    "sleep": "",
}


def mac(
    folder: Path, era: str = "26", known: dict[str, str] | None = None, owner: int | None = None,
    more: Mapping[str, str] | None = None, role: str = "client",
) -> EmulatedHost:  # fmt: skip
    """An emulated Mac. ``known``: sysctls under net.inet; ``owner``: user ID of images; ``more``: further commands."""
    start = {"mtu": "1500\n", "flaps": "0\n", "images": "", "mounts": "/dev/disk1s1 /\n", "busy": "0\n", "calls": ""}
    start["indexing"] = "enabled\n"
    start["values"] = "".join(f"net.inet.{name} {value}\n" for name, value in (known or {}).items())
    for name, text in start.items():
        (folder / name).write_text(text, encoding="utf-8")
    owner = os.getuid() if owner is None else owner
    head = f'ERA={era} OWNER={owner} MACOS_CAPTURES="{MACOS_CAPTURES}"\n'
    commands = MAC | dict(more or {})
    return EmulatedHost(folder, {name: head + text for name, text in commands.items()}, REAL, role)


def state(host: EmulatedHost) -> dict[str, str]:
    return {name: (host.folder / name).read_text(encoding="utf-8") for name in ("mtu", "images", "mounts", "values")}


def settings_of(host: Host, folder: Path) -> Settings:
    return Settings({host.name: host}, Journal(folder / "journal.jsonl", line_format()))
