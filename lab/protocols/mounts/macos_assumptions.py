"""What is assumed of how a Mac mounts shares."""

from __future__ import annotations

from lab.hosts.assumption import Assumption
from lab.hosts.interpreter import shell_function
from lab.protocols.mounts.macos import PROMPT

# The script that answers mount_smbfs and mount_afp, with a command in their place that asks nothing
TERMINAL = (
    shell_function("prompt", PROMPT)
    + "printf 'x\\n' | prompt sh -c '[ -t 0 ] && [ -t 1 ] && : > /dev/tty' && echo 'it has one'"
)
MOUNTING = (
    Assumption(
        "perl, or the python3 in its place, can give a command a terminal of its own",
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
