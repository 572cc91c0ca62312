"""What is assumed of how a Mac serves shares."""

from __future__ import annotations

from lab.hosts.assumption import Assumption

ON_DATA = "df -P /Users | tail -n 1; stat -f '%d %i' /Users /System/Volumes/Data/Users | uniq | grep -c ."
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
