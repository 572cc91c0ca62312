"""What is assumed of how a Mac mounts and serves shares."""

from __future__ import annotations

import shlex

from lab.check.assumption import Assumption
from lab.protocols.mounts.macos import PROMPT

# The script that answers mount_smbfs and mount_afp, with a command in their place that asks nothing
TERMINAL = f"""
printf 'x\\n' | perl -e {shlex.quote(PROMPT)} -- sh -c '[ -t 0 ] && [ -t 1 ] && : > /dev/tty' && echo 'it has one'
"""
ON_DATA = "df -P /Users | tail -n 1; stat -f '%d %i' /Users /System/Volumes/Data/Users | uniq | grep -c ."
MOUNTING = (
    Assumption(
        "perl can give a command a terminal of its own",
        TERMINAL,
        "it has one",
        "xnu sys/ttycom.h, tty_ptmx.c",
    ),
    Assumption(
        "mount_smbfs can give a mount a session of its own",
        "mount_smbfs -h",
        r"\[-s\]",
        "SMBClient mount_smbfs.c",
        since=(11, 0),
    ),
    Assumption(
        "smbutil shows what was agreed on with a server",
        "smbutil statshares -a",
        r"SHARE +ATTRIBUTE TYPE +VALUE",
        "smb and SMBClient smbutil/statshares.c",
        since=(10, 9),
    ),
    Assumption(
        "mount_afp can be told to ask for the password",
        "mount_afp",
        r"-i\b",
        "man mount_afp",
        before=(27, 0),
    ),
    Assumption(
        "there is no AFP client any more",
        "command -v mount_afp || echo none",
        "^none$",
        "Apple's announcements",
        since=(27, 0),
    ),
    Assumption(
        "nfsstat knows -m, and says nothing where nothing is mounted",
        'nfsstat -m; echo "exit code $?"',
        "exit code 0",
        "NFS nfsstat.c; of 10.6 unverified",
    ),
    Assumption(
        "mount_afp asks for a password in words that end with `password:`, and asks again for a wrong one",
        "",
        "run a sweep over afp: it mounts; with a wrong password in [share] it says that the password was refused",
        "man mount_afp does not say: unverified",
        before=(27, 0),
    ),
)
SERVING = (
    Assumption(
        "sharing lists share points under a title",
        "sharing -l",
        "List of Share Points",
        "captured on 10.8 and later",
        root=True,
    ),
    Assumption(
        "launchctl still knows the old words load and unload",
        "launchctl load; launchctl unload",
        r"(?i)usage: launchctl load (.*\n)*usage: launchctl unload ",
        "man launchctl: they are legacy from 10.11 on",
        root=True,
    ),
    Assumption(
        "launchctl list fails for what is not loaded",
        'launchctl list no.such.service; echo "exit code $?"',
        r"exit code [1-9]",
        "man launchctl",
        root=True,
    ),
    Assumption(
        "pwpolicy lists the forms in which an account's password is kept",
        'pwpolicy -u "$3" -gethashtypes',
        r"^(SALTED-SHA|SMB-NT)",
        "public samples",
        root=True,
    ),
    Assumption(
        "dseditgroup says yes first where an account is in a group",
        'dseditgroup -o checkmember -m "$3" staff',
        r"^yes ",
        "public samples",
        root=True,
    ),
    Assumption(
        "nfsd says whether it is enabled and whether it runs",
        "nfsd status",
        r"^nfsd service is (enabled|disabled)\n(.*\n)*nfsd is (not running|running)",
        "NFS nfsd/main.c",
        root=True,
    ),
    Assumption(
        "nfsd finds nothing wrong with exports that are empty",
        'nfsd -F /dev/null checkexports; echo "exit code $?"',
        "exit code 0",
        "NFS nfsd/main.c, mountd.c",
        root=True,
    ),
    Assumption(
        "/Users is on the data volume, and there under the same name",
        ON_DATA,
        r"/System/Volumes/Data\n\s*1$",
        "reports of nfsd from 10.15 on",
        since=(10, 15),
    ),
    Assumption(
        "TCP buffers reach the SMB and AFP servers, and the SMB client of 10.11 to 10.15, or they do not",
        "",
        'sweep tcp_space = ["64 KiB", "1 MiB"]: where the figures are the same, these sockets have sizes of their own',
        "closed or unpublished sources: unverified",
    ),
)
