"""What macOS refuses for the sake of privacy or of its own safety, and the switch that allows it.

A refusal reads like any other error: file permissions or the network seem to be wrong. Every command over SSH counts as
sshd's, so one switch is for all of them, and sudo does not help.
"""

from __future__ import annotations

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
# Programs that say this of files. Others say it of what only root may do, and then it is true.
FILE_TOOLS = "cat|cp|dd|df|find|head|ls|mkdir|mv|open|perl|rm|rmdir|rsync|openrsync|sh|stat|tail|touch"
REFUSALS = (
    (r"Operation not permitted while System Integrity Protection is engaged", SIP),
    (r"sandbox_check failed\. nfsd has no read access to", NFSD),
    (r"[Rr]equires? Full Disk Access privileges", FULL_DISK),
    (rf"^(/bin/|/usr/bin/)?({FILE_TOOLS})(\([0-9]+\))?: .*: Operation not permitted( \(1\))?$", FULL_DISK),
    (r"^cannot (open|flush) .*: Operation not permitted$", FULL_DISK),
    (r"No route to host", LOCAL_NETWORK),
)


def explain(output: str) -> str:
    """What to do where macOS refused, of what a program printed; empty where it did not, or that cannot be told."""
    return next((remedy for sign, remedy in REFUSALS if re.search(sign, output, re.MULTILINE)), "")
