"""What is assumed of how a Mac mounts shares."""

from __future__ import annotations

from lab.hosts.assumption import Assumption, Risk
from lab.hosts.perl import shell_function
from lab.protocols.mounts.macos import PROMPT

# The script that answers mount_smbfs and mount_afp, with a command in their place that asks nothing
TERMINAL = (
    shell_function("prompt", PROMPT)
    + "printf 'x\\n' | prompt sh -c '[ -t 0 ] && [ -t 1 ] && : > /dev/tty' && echo 'it has one'"
)
MOUNTING = (
    Assumption(
        name="own-terminal",
        what="perl can give a command a terminal of its own",
        ask=TERMINAL,
        expected="it has one",
        source="xnu sys/ttycom.h, tty_ptmx.c",
        risk=Risk.NO_PROTOCOL,
        breaks="SMB and AFP cannot be given a password",
    ),
    Assumption(
        name="smb-own-session",
        what="mount_smbfs can give a mount a session of its own",
        ask="mount_smbfs -h",
        expected=r"\[-s\]",
        source="SMBClient mount_smbfs.c",
        since=(11, 0),
        risk=Risk.NO_PROTOCOL,
        breaks="SMB is not mounted",
    ),
    Assumption(
        name="statshares",
        what="smbutil shows what was agreed on with a server",
        ask="smbutil statshares -a",
        expected=r"SHARE +ATTRIBUTE TYPE +VALUE",
        source="smb and SMBClient smbutil/statshares.c",
        since=(10, 9),
        risk=Risk.TOLD,
        breaks="dialect and signing of SMB are not known",
    ),
    Assumption(
        name="afp-asks",
        what="mount_afp can be told to ask for the password",
        ask="mount_afp",
        expected=r"-i\b",
        source="man mount_afp",
        before=(27, 0),
        risk=Risk.NO_PROTOCOL,
        breaks="AFP is not mounted",
    ),
    Assumption(
        name="no-afp",
        what="there is no AFP client any more",
        ask="command -v mount_afp || echo none",
        expected="^none$",
        source="Apple's announcements",
        since=(27, 0),
        risk=Risk.TOLD,
        breaks="AFP could still be measured",
    ),
    Assumption(
        name="nfsstat",
        what="nfsstat knows -m, and says nothing where nothing is mounted",
        ask='nfsstat -m; echo "exit code $?"',
        expected="exit code 0",
        source="NFS nfsstat.c; of 10.6 not known",
        risk=Risk.TOLD,
        breaks="version and sizes of an NFS mount are not known",
    ),
    Assumption(
        name="smb-home",
        what="mount_smbfs over SSH reads nsmb.conf below the `$HOME` that it is given",
        expected="a sweep of `smb.multichannel = [true, false]`: no trial says that it reads back as another",
        source="SMBClient rcfile.c",
        unverified=True,
        since=(10, 11),
        risk=Risk.TOLD,
        breaks="options of SMB do not take effect, and their trials fail",
    ),
    Assumption(
        name="afp-words",
        what="mount_afp asks for a password in words that end with `password:`, and asks again for a wrong one",
        expected="`mkdir /tmp/m; mount_afp -i afp://you@SERVER/SHARE /tmp/m`, with a wrong password; `rmdir /tmp/m`",
        source="man mount_afp does not say",
        unverified=True,
        before=(27, 0),
        risk=Risk.NO_PROTOCOL,
        breaks="AFP is not mounted",
    ),
)
