"""The file system of an emulated Mac, laid out at its first boot; it is on the host's disk and outlives a reboot.

The Linux that it stands on is at /linux, and no PATH leads there. Programs of macOS that are the same on both are
links to Linux's; the others are links to ``run_program``.
"""

import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import attributes, launchd_services, openssh, profiles
from .profiles import Profile
from .programs import PLACES, place

FOLDERS = {
    "bin": 0o755, "sbin": 0o755, "usr/bin": 0o755, "usr/sbin": 0o755, "usr/libexec": 0o755, "usr/local/bin": 0o755,
    "private/etc": 0o755, "private/tmp": 0o1777, "private/var/run": 0o755, "private/var/root": 0o700,
    "private/var/log": 0o755,
    "private/var/db": 0o755, "private/var/db/sudo": 0o711, "private/var/db/sudo/lectured": 0o700,
    "private/var/db/dslocal/nodes/Default/sharepoints": 0o700,
    "private/var/lib": 0o755, "private/var/lock": 0o755,  # netatalk mounts its databases there
    "private/var/tmp": 0o1777, "private/var/fuse": 0o755, "Volumes": 0o755, "Users": 0o755,
    "Users/Shared": 0o1777, "Users/Shared/disk": 0o755, "System/Volumes/Data": 0o755, "opt": 0o755,
    "Library/Preferences/SystemConfiguration": 0o755, "System/Library/LaunchDaemons": 0o755, "linux": 0o755,
    "proc": 0o755, "dev": 0o755, "run": 0o755,
}  # fmt: skip
LINKS = {
    "etc": "private/etc", "tmp": "private/tmp", "var": "private/var",
    # programs of the Linux below look for what they need here
    "usr/lib": "/linux/usr/lib", "usr/share": "/linux/usr/share", "lib": "/linux/usr/lib",
    "lib64": "/linux/usr/lib64", "usr/libexec/sudo": "/linux/usr/libexec/sudo",
}  # fmt: skip
SHARED_ETC = ("passwd", "shadow", "group", "gshadow", "nsswitch.conf", "pam.d", "security", "login.defs",
              "localtime", "ssl", "ssh", "services", "protocols", "rpc", "hosts", "resolv.conf", "ld.so.cache",
              "sudo.conf")  # fmt: skip
# Apple's (sudo: sudoers of each version), with one rule more for ``lab``
SUDOERS = """\
Defaults timestamp_timeout=5
Defaults passprompt="Password:", !admin_flag
Defaults lecture=once, lecture_file="/etc/sudo_lecture", lecture_status_dir="/var/db/sudo/lectured"
root ALL = (ALL) ALL
%admin ALL = (ALL) ALL
lab ALL = (ALL) NOPASSWD: ALL
"""
LECTURE = """
WARNING: Improper use of the sudo command could lead to data loss
or the deletion of important system files. Please double-check your
typing when using sudo. Type "man sudo" for more information.

To proceed, enter your password, or type Ctrl-C to abort.

"""
INCLUDED_SUDOERS = "#includedir /private/etc/sudoers.d\n"  # from 10.11 on
# zsh takes # for a word where a person types (zshoptions(1): INTERACTIVE_COMMENTS is off); its place has Linux's bash
PROFILE = "case $0 in *zsh) shopt -u interactive_comments ;; esac\n"
ONE_TICKET = "Defaults timestamp_type=global\n"  # sudo before 1.7.4 remembers a password for a user, on any terminal
# Two administrators: ``lab``, whom sudo asks for nothing, and ``you``, an account as a Mac's owner has it
USERS = {"lab": 501, "you": 502}
ACCOUNTS = (
    (
        "passwd",
        r"(?m)^lab:.*$",
        "\n".join(f"{name}:x:{uid}:20:{name.title()}:/Users/{name}:/bin/zsh" for name, uid in USERS.items()),
    ),
    ("passwd", r"(?m)^root:.*$", "root:x:0:0:System Administrator:/private/var/root:/bin/sh"),
    ("group", r"(?m)^dialout:.*$", f"staff:x:20:root,{','.join(USERS)}"),
    ("group", r"(?m)^sudo:.*$", f"admin:x:80:{','.join(USERS)}"),
    ("group", r"(?m)^(www-data|operator):x:(80|0):.*\n", ""),
)
SAME = {
    "/bin": ("bash", "dash", "echo", "expr", "kill", "pwd", "stty", "sync", "test", "["),
    "/usr/bin": ("cksum", "comm", "diff", "false", "groups", "gunzip", "gzip", "join", "logname", "nl", "nohup", "od",
                 "paste", "printf", "ssh", "scp", "ssh-keygen", "shasum", "split", "tar", "true", "tty", "which", "who",
                 "whoami", "yes", "sudo"),
    "/usr/sbin": ("sshd", "unix_chkpwd", "visudo"),  # sudo runs the second to check accounts
}  # fmt: skip
# Programs whose options ``bsd_options`` checks before Linux's program does the work
CHECKED = {
    "/bin": ("cat", "chmod", "cp", "dd", "ln", "ls", "mkdir", "mv", "rm", "rmdir", "sleep"),
    "/usr/bin": ("awk", "basename", "cmp", "cut", "dirname", "du", "env", "find", "grep", "head", "id",
                 "mkfifo", "mktemp", "nice", "readlink", "sed", "seq", "sort", "tail", "tee", "touch", "tr", "uniq",
                 "wc", "xargs"),
    "/usr/sbin": ("chown",),
}  # fmt: skip


def lay_out(root: Path) -> None:
    """Lay a Mac's file system out at ``root``."""
    for folder, mode in FOLDERS.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder).chmod(mode)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    for name in SHARED_ETC:
        (root / "private/etc" / name).symlink_to(f"/linux/etc/{name}")
    Path(attributes.RECORDS).mkdir(parents=True, exist_ok=True)
    Path(attributes.RECORDS).chmod(0o777)  # in a sticky folder root may not write another account's file
    _lay_out_programs(root, profiles.current())
    _lay_out_accounts(root, profiles.current())
    _describe_services(root, profiles.current())


def _lay_out_programs(root: Path, profile: Profile) -> None:
    for folder, names in SAME.items():
        for name in names:
            _link(root, f"{folder}/{name}", linux_path(name))
    for folder, names in CHECKED.items():
        for name in names:
            _link(root, f"{folder}/{name}", "/linux/opt/emulated_mac/bsd_options")
    _link(root, "/usr/bin/perl", "/linux/opt/emulated_mac/perl/perl")
    _link(root, "/usr/bin/rsync", "/linux/opt/emulated_mac/rsync")
    if profile.number >= (10, 13):
        _link(root, "/usr/bin/ssh-copy-id", linux_path("ssh-copy-id"))
    _link(root, "/bin/sh", linux_path("dash"))  # without what came after bash 3.2
    _link(root, "/bin/zsh", linux_path("bash"))
    _link(root, f"{homebrew(profile)}/iperf3", linux_path("iperf3"))
    for name in PLACES:
        place_of = place(name, profile)
        if place_of is not None:
            _link(root, f"{place_of}/{name}", "/linux/opt/emulated_mac/run_program")


def _lay_out_accounts(root: Path, profile: Profile) -> None:
    for file, pattern, line in ACCOUNTS:
        path = Path("/linux/etc", file)
        path.write_text(re.sub(pattern, line, path.read_text()))
    for name, uid in USERS.items():
        home = root / "Users" / name
        home.mkdir(mode=0o755, exist_ok=True)
        os.chown(home, uid, 20)
    password = Path("/linux/etc/emulated-mac-password").read_text()
    # by name alone while the host boots: only root can have written to the folders of its PATH
    subprocess.run(["chpasswd"], input=f"you:{password}\n", text=True, check=True)  # noqa: S607
    sudoers = root / "private/etc/sudoers"
    rules = ONE_TICKET + SUDOERS if profile.number < (10, 7) else SUDOERS
    sudoers.write_text(rules if profile.number < (10, 11) else rules + INCLUDED_SUDOERS)
    if profile.number >= (10, 11):
        (root / "private/etc/sudoers.d").mkdir(mode=0o755)
    sudoers.chmod(0o440)
    (root / "private/etc/sudo_lecture").write_text(LECTURE)
    (root / "private/etc/profile").write_text(PROFILE)
    if openssh.algorithms(profile.number):  # its sshd has its keys elsewhere
        for name in ("ssh_host_rsa_key", "ssh_host_rsa_key.pub"):
            (root / "private/etc" / name).symlink_to(f"/linux/etc/ssh/{name}")


def linux_path(name: str) -> str:
    """The path of a program of the Linux below, without links: Debian's may lead into /etc, which is the Mac's."""
    path = shutil.which(name, path="/usr/bin:/usr/sbin")
    if path is None:
        raise FileNotFoundError(f"the Linux below has no {name}")
    return f"/linux{Path(path).resolve()}"


def homebrew(profile: Profile) -> str:
    """The folder where Homebrew puts programs. A command over SSH does not have it in its PATH."""
    return "/opt/homebrew/bin" if profile.is_arm else "/usr/local/bin"


def _describe_services(root: Path, profile: Profile) -> None:
    """The property lists of launchd."""
    for service in launchd_services.services_of(profile):
        (root / service.path.lstrip("/")).write_bytes(plistlib.dumps(launchd_services.property_list(service)))


def _link(root: Path, path: str, target: str) -> None:
    link = root / path.lstrip("/")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
