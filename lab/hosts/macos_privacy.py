"""Refusals of macOS for privacy or system integrity, and the switch that allows the access.

A refusal looks like wrong file permissions or a network failure. Every command over SSH counts as sshd's, so one switch
covers all of them, and sudo does not help.
"""

import re

FULL_DISK = (
    "System Settings > General > Sharing > Remote Login (i) > Allow full disk access for remote users (macOS 10.15 to "
    "12: System Preferences > Security & Privacy > Privacy > Full Disk Access, + /usr/libexec/sshd-keygen-wrapper), on "
    "that Mac; then connect anew"
)
LOCAL_NETWORK = (
    "where the link is up and the address right, macOS 15 and later keep a program off the local network: System "
    "Settings > Privacy & Security > Local Network, switch on the one that this was started from. What runs over "
    "SSH, in Terminal or as root is let through"
)
NFSD = "System Settings > Privacy & Security > Full Disk Access, + /sbin/nfsd, on that Mac; then share again"
SIP = (
    "System Integrity Protection keeps commands off this service: use its switch in System Settings > General > "
    "Sharing. Nothing that the lab does is worth `csrutil disable`"
)
# These programs say so about files. Others say it about what only root may do, and are right.
FILE_TOOLS = "cat|cp|dd|df|find|head|ls|mkdir|mv|open|perl|rm|rmdir|rsync|openrsync|sh|stat|tail|touch"
REFUSALS = {
    r"Operation not permitted while System Integrity Protection is engaged": SIP,
    r"sandbox_check failed\. nfsd has no read access to": NFSD,
    r"[Rr]equires? Full Disk Access privileges": FULL_DISK,
    rf"^(/bin/|/usr/bin/)?({FILE_TOOLS})(\([0-9]+\))?: .*: Operation not permitted( \(1\))?$": FULL_DISK,
    r"^cannot (open|flush) .*: Operation not permitted$": FULL_DISK,
    r"No route to host": LOCAL_NETWORK,
}


def explain(output: str) -> str:
    """The remedy for a refusal of macOS in a program's output; empty if there is none."""
    return next((remedy for sign, remedy in REFUSALS.items() if re.search(sign, output, re.MULTILINE)), "")
