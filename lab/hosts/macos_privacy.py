"""Refusals of macOS for privacy or system integrity, and the switch that allows the access.

macOS goes by what started a program: Terminal, sshd, a job of launchd, or another program. It may refuse, or block an
access for ever, without asking anybody. A refusal looks like wrong file permissions or a network failure. Every command
over SSH counts as sshd's, so one switch covers all of them, and sudo does not help.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lab.base.untrusted import one_line
from lab.hosts.host import Host

FULL_DISK = (
    "System Settings > General > Sharing > Remote Login (i) > Allow full disk access for remote users (macOS 10.15 to "
    "12: System Preferences > Security & Privacy > Privacy > Full Disk Access, + /usr/libexec/sshd-keygen-wrapper), on "
    "that Mac; then connect anew"
)
FILES = "System Settings > Privacy & Security > Files and Folders, switch on Network Volumes for "
OF_JOB = (
    "try the same command in Terminal. If it works there, macOS's privacy is the cause: measure from Terminal, or see "
    "docs/how-to/watch-a-share.md. Leave the share mounted: a forced unmount may hang for minutes"
)
NO_ROUTE = "nothing is on the way to that address: is it right, and are the link and the other machine up?"
NFSD = "System Settings > Privacy & Security > Full Disk Access, + /sbin/nfsd, on that Mac; then share again"
SIP = (
    "System Integrity Protection keeps commands off this service: use its switch in System Settings > General > "
    "Sharing. Nothing that the lab does is worth `csrutil disable`"
)
REFUSALS = {
    r"Operation not permitted while System Integrity Protection is engaged": SIP,
    r"sandbox_check failed\. nfsd has no read access to": NFSD,
    r"[Rr]equires? Full Disk Access privileges": FULL_DISK,
}
# These programs say so about files. Others say it about what only root may do, and are right.
FILE_TOOLS = "cat|cp|dd|df|find|head|ls|mkdir|mv|open|perl|rm|rmdir|rsync|openrsync|sh|stat|tail|touch"
NOT_PERMITTED = re.compile(
    rf"^(/bin/|/usr/bin/)?({FILE_TOOLS})(\([0-9]+\))?: .*: Operation not permitted( \(1\))?$"
    r"|^cannot (open|flush) .*: Operation not permitted$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Starter:
    """What started the commands on a Mac, in words; how it may read network volumes, and reach the local network."""

    name: str
    remedy: str
    is_let_through: bool = True


SSH = Starter("commands over SSH", FULL_DISK)
TERMINAL = Starter("Terminal", f"answer macOS's question on the screen, or {FILES}Terminal")


def starter_of(host: Host) -> Starter:
    """What started the commands on a host: sshd, unless the host is this machine."""
    return find_starter(os.environ, os.geteuid()) if host.is_here else SSH


def find_starter(environ: Mapping[str, str], uid: int) -> Starter:
    """What started this process, by the variables that sshd, launchd and terminals set; root reaches the network."""
    if "SSH_CONNECTION" in environ:
        return SSH
    program = one_line(environ.get("TERM_PROGRAM", ""), 80)
    if program == "Apple_Terminal":
        return TERMINAL
    label = environ.get("XPC_SERVICE_NAME", "0")  # of a program with windows it begins with application.
    if not program and label != "0" and not label.startswith("application."):
        return Starter(f"the launchd job {one_line(label, 80)}", OF_JOB, uid == 0)
    remedy = f"{FILES}{program or 'the program that this was started from'}; in Terminal macOS asks"
    return Starter(program or "a program other than Terminal", remedy, uid == 0)


def kept_off_network(starter: Starter) -> str:
    """How macOS may keep what it started off the local network, and what to do; empty if it lets it through."""
    if starter.is_let_through:
        return ""
    return (
        f"macOS 15 and later may keep {starter.name} off the local network without asking, which looks like this. Try "
        "the same command in Terminal, over SSH or as root, which are let through. Else System Settings > Privacy & "
        "Security > Local Network has the switch, if macOS shows one"
    )


def explain(output: str, starter: Starter = SSH) -> str:
    """The remedy for a refusal of macOS in a program's output; empty if there is none."""
    if NOT_PERMITTED.search(output):
        return starter.remedy
    if "No route to host" in output:
        return f"{NO_ROUTE} {kept_off_network(starter)}".rstrip()
    return next((remedy for sign, remedy in REFUSALS.items() if re.search(sign, output)), "")
