"""The commands by which a Mac mounts and serves shares, emulated; each names its source.

Their state is in files of their folder: mounts, passwords, and what launchd, sharing and nfsd know. A file ``fails``
has the exit code and the message with which the next mount fails."""

from pathlib import Path

from pydantic import SecretStr

from lab import protocols
from lab.protocols import Attached, Share, Side
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from support.fake_host import EmulatedHost
from support.pairs import OWN_NAME
from support.paths import MACOS_CAPTURES

REAL = ("sh", "sed", "grep", "cat", "perl", "id", "mkdir", "rm", "mv", "tail", "tr", "stty", "cut", "env")
PASSWORD = "hunter2 %&/ö"
MOUNTED = ("smb", "nfs", "afp")
SERVICES = ("com.apple.smbd", "com.apple.AppleFileServer")
# What the scripts share. readpassphrase(3) drops earlier input and switches echo off before it asks at the terminal;
# launchd keeps nfsd up while it is loaded and the file is there (com.apple.nfsd.plist)
FUNCTIONS = """
fail_if_told() { [ ! -e fails ] || { read -r code words < fails; echo "$words" >&2; exit "$code"; }; }
ask() {
    stty -echo < /dev/tty || exit 1; printf '%s' "$1" > /dev/tty
    IFS= read -r typed < /dev/tty; stty echo < /dev/tty; echo > /dev/tty
    [ "$typed" = "$(cat password)" ]
}
tick() {
    if [ -e loaded-nfsd ] && [ -e exports ]; then [ -e running ] || { : > running; cat exports > known; }
    else rm -f running known; fi
}
"""
# mount_smbfs.c, lib/smbclient/server.c of SMBClient. NEW says what its usage has
MOUNT_SMBFS = """
[ "$1" = -h ] && { echo "usage: mount_smbfs [-N] [-o options] [-d mode] [-f mode] [-h]$NEW [-v]" >&2; exit 64; }
[ "$1" = -s ] && { [ -n "$NEW" ] || exit 64; shift; }
[ "$1 $2" = "-o nobrowse" ] && [ $# = 4 ] || exit 64
fail_if_told
grep -q " on $4 (" table && { echo "mount_smbfs: mount error: $4: File exists" >&2; exit 64; }
ask "Password for 10.254.100.7: " ||
    { echo "mount_smbfs: server rejected the connection: Authentication error" >&2; exit 77; }
echo "$3 on $4 (smbfs, nodev, nosuid, nobrowse, mounted by me)" >> table
"""
# man mount_afp; what it prints on success: public samples
MOUNT_AFP = """
[ "$1 $2 $3" = "-i -o nobrowse" ] && [ $# = 5 ] || exit 22
fail_if_told
ask "Password: " || ask "Password: " ||
    { echo "mount_afp: AFPMountURL returned error -5023, errno is -5023" >&2; exit 1; }
echo "mount_afp: the mount flags are 0000 the altflags are 0020" >&2
echo "//${4#afp://} on $5 (afpfs, nodev, nosuid, nobrowse, mounted by me)" >> table
"""
# mount_nfs.c of NFS: it exits with an errno
MOUNT_NFS = """
[ "$1" = -o ] && [ $# = 4 ] || exit 22
case $2 in *resvport*) ;; *) echo "mount_nfs: can't mount $3 onto $4: Operation not permitted" >&2; exit 1 ;; esac
fail_if_told
echo "$3 on $4 (nfs, nodev, nosuid, nobrowse, mounted by root)" >> table
"""
UMOUNT = """
force=; [ "$1" = -f ] && { force=1; shift; }
grep -q " on $1 (" table || { echo "umount: $1: not currently mounted" >&2; exit 1; }
[ -n "$force" ] || [ ! -e busy ] || { echo "umount($1): Resource busy -- try 'diskutil unmount'" >&2; exit 1; }
grep -v " on $1 (" table > left; mv left table
"""
SMBUTIL = """
case $1 in
statshares) sed 's/^SharedDir/lab      /' "$MACOS_CAPTURES/smbutil-statshares-15.txt" ;;
multichannel) cat "$MACOS_CAPTURES/smbutil-multichannel-14.txt" ;;
esac
"""
# launchctl load and unload always exit 0; list shows whether a label is known. -w is permanent; a server that is
# switched off is only loaded with -w or -F
LAUNCHCTL = """
for path in "$@"; do :; done
label=${path##*/}; label=${label%.plist}
case " $* " in *" -w "*) echo "$1 $label" >> switched ;; esac
case $1 in
list) grep -qx "$2" loaded || { echo "Could not find service \\"$2\\" in domain for system" >&2; exit 113; } ;;
load)
    grep -qs "$label. => disabled" switches && exit 0
    case $2 in -w|-F) [ -e "$path" ] && echo "$label" >> loaded ;; esac ;;
bootstrap) [ -e "$path" ] || { echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; }; exit 119 ;;
print-disabled) cat switches 2>/dev/null ;;
enable|disable) sed -i "/${2#system/}/s/=> .*/=> $1d/" switches ;;
unload) grep -vx "$label" loaded > left; mv left loaded ;;
esac
exit 0
"""
# man sharing; records in lower-case letters: public reports. Fields of points: record, path, protocol, name, shared
SHARING = """
case $1 in
-l)
    printf '\\n\\t\\t\\tList of Share Points\\n'
    while IFS='|' read -r record path protocol name; do
        printf 'name:\\t\\t%s\\npath:\\t\\t%s\\n\\t%s:\\t{\\n' "$record" "$path" "$protocol"
        printf '    \\t\\tname:\\t%s\\n    \\t\\tshared:\\t1\\n    \\t\\tguest access:\\t0\\n\\t}\\n' "$name"
    done < points ;;
-a)
    [ "$3 $7 $9" = "-n -s -g" ] || exit 1
    case $5$8 in -S001) protocol=smb ;; -A100) protocol=afp ;; *) exit 1 ;; esac
    [ -e refuse ] || echo "$(echo "$4" | tr A-Z a-z)|$2|$protocol|$6$(cat renamed 2>/dev/null)" >> points ;;
-r) grep -v "^$2|" points > left; mv left points ;;
esac
"""
# nfsd/main.c of NFS
NFSD = """
tick
file=exports; [ "$1" = -F ] && { file=$2; shift 2; }
case $1 in
status)
    [ -e enabled ] && echo "nfsd service is enabled" || echo "nfsd service is disabled"
    [ -e running ] && echo "nfsd is running (pid 2140, 8 threads)" || echo "nfsd is not running"
    [ -e enabled ] ;;
start) : > loaded-nfsd; tick; echo "Starting the nfsd service (use 'enable' to make permanent)" ;;
stop) [ -e running ] && { rm loaded-nfsd; tick; }; echo "Stopping the nfsd service" ;;
update) [ -e running ] || { echo "nfsd: nfsd not running?" >&2; exit 1; }; cat exports > known ;;
checkexports)
    [ -e sandboxed ] && { echo "exports:1: sandbox_check failed. nfsd has no read access to \\"/x\\"" >&2; exit 1; }
    sed -n 's/ .*//p' "$file" | while read -r path; do [ -d "$path" ] || exit 1; done ;;
*) exit 1 ;;
esac
"""
SHOWMOUNT = """
tick
[ -e running ] || { echo "showmount: $2: RPC: Program not registered" >&2; exit 1; }
echo "Exports list on 127.0.0.1:"; sed -n 's|^\\(/[^ ]*\\) .*|\\1                       10.254.0.0|p' known
"""
DSEDITGROUP = """
if grep -qx "$4" outsiders; then echo "no $4 is NOT a member of $5"; else echo "yes $4 is a member of $5"; fi
"""
DF = """
printf 'Filesystem 512-blocks Used Available Capacity  Mounted on\\n/dev/disk4 9 5 4 56%%    %s\\n' "$(cat volume)"
"""
COMMANDS = {
    "mount": "cat table", "umount": UMOUNT, "mount_smbfs": MOUNT_SMBFS, "mount_afp": MOUNT_AFP, "mount_nfs": MOUNT_NFS,
    "smbutil": SMBUTIL, "launchctl": LAUNCHCTL, "sharing": SHARING, "nfsd": NFSD, "showmount": SHOWMOUNT,
    "dscl": "[ -e outsiders ] || exit 56  # eDSRecordNotFound", "dseditgroup": DSEDITGROUP, "pwpolicy": "cat hashes",
    "ls": '[ ! -e private ] || { echo "ls: $1: Operation not permitted" >&2; exit 1; }',
    "diskutil": 'grep -v " on $3 (" table > left; mv left table',
    "nfsstat": 'sed "s|/Users/x/Cloud|$2|; s/vers=3/vers=$(cat vers)/" "$MACOS_CAPTURES/nfsstat-m.txt"',
    "df": DF, "ifconfig": 'cat "$MACOS_CAPTURES/ifconfig-10gbase-t.txt"', "sleep": "",
    "uname": '[ "$*" = -r ] && cat darwin',
}  # fmt: skip
START = {
    "table": "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)\n",
    "password": PASSWORD, "vers": "3", "darwin": "24.5.0\n", "points": "", "loaded": "", "volume": "/\n",
    "hashes": "SALTED-SHA512-PBKDF2 SMB-NT\n",
}  # fmt: skip


def mac(folder: Path, role: str, usage: str = " [-s]") -> EmulatedHost:
    """A Mac that mounts and shares; ``usage`` is the part of mount_smbfs's usage about separate sessions."""
    for name, text in START.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / OWN_NAME / "ram").mkdir(parents=True)
    daemons = folder / "LaunchDaemons"
    daemons.mkdir()
    for label in SERVICES:
        (daemons / f"{label}.plist").touch()
    head = f'MACOS_CAPTURES="{MACOS_CAPTURES}" NEW="{usage}"{FUNCTIONS}'
    return EmulatedHost(folder, {name: head + text for name, text in COMMANDS.items()}, REAL, role)


def state(host: EmulatedHost) -> dict[str, str]:
    names = ("table", "points", "loaded", "switched", "exports", "enabled", "loaded-nfsd", "running", "known")
    files = {name: host.folder / name for name in names}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.exists()}


class Pair:
    """Two emulated Macs, a journal on disk, and a share of the server."""

    def __init__(self, folder: Path, usage: str = " [-s]"):
        self.folder = folder
        self.hosts: dict[str, EmulatedHost] = {}
        self.sides: dict[str, Side] = {}
        for role, address in {"client": "10.254.100.9", "server": "10.254.100.2"}.items():
            (folder / role).mkdir()
            self.hosts[role] = mac(folder / role, role, usage)
            directory = str(folder / role / OWN_NAME)
            # a service listens as soon as launchd has it
            self.sides[role] = Side(
                self.hosts[role], "macos", address, directory, "me", listening=lambda port: "[ -s loaded ]"
            )
        self.share = Share(str(folder / "server" / OWN_NAME / "ram"), "my share", "lab", SecretStr(PASSWORD), True)
        self.settings = self.anew()

    def anew(self) -> Settings:
        """The settings of another process, which knows the journal alone."""
        return Settings(dict(self.hosts), Journal(self.folder / "journal.jsonl", line_format()))

    def serve(self, name: str) -> None:
        self.settings.follow(protocols.find(name).driver("macos").serve(self.sides["server"], self.share))

    def attach(self, name: str) -> Attached:
        driver = protocols.find(name).driver("macos")
        self.settings.follow(driver.prepare(self.sides["client"]))
        return self.settings.follow(driver.attach(self.sides["client"], self.sides["server"], self.share))

    @property
    def server(self) -> EmulatedHost:
        return self.hosts["server"]

    @property
    def client(self) -> EmulatedHost:
        return self.hosts["client"]
