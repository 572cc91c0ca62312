"""Options of SMB in a sweep, as mount options of Linux kernels and as lines of nsmb.conf(5) on a Mac.

mount_smbfs looks for nsmb.conf below $HOME (smb_open_rcfile of SMBClient).
"""

from dataclasses import replace

from lab.design.option_levels import one_of, yes_or_no
from lab.protocols.options import Option, program

# By the words of mount.cifs(8), and by what the kernel says of a connection
VERSIONS = {"2.0.2": "2.0", "2.1": "2.1", "3.0": "3.0", "3.0.2": "3.02", "3.1.1": "3.1.1"}
DIALECT_NAMES = {kernels: level for level, kernels in VERSIONS.items()}
# A server may demand signatures, and only a client can ask for none: unasked, Linux has none, and whether there were
# any is read back
OPTIONS = {
    "client": program("client", "kernel", "gvfs"),
    "server": program("server", "samba", "ksmbd"),
    "time_machine": Option(
        yes_or_no,
        lambda _: "",
        lambda mounted_with: mounted_with.get("time_machine", ""),
        about="Whether Samba offers the share to Macs for Time Machine (vfs_fruit); with false it serves Macs by the "
        "same module without that, and by default without the module.",
    ),
    "dialect": Option(
        one_of(*VERSIONS),
        lambda level: f"vers={VERSIONS[level]}",
        lambda mounted_with: DIALECT_NAMES.get(mounted_with.get("vers", ""), ""),
        about="The version of SMB.",
    ),
    "signing": Option(
        yes_or_no,
        {"true": "sign", "false": ""}.__getitem__,
        lambda mounted_with: mounted_with.get("signed", ""),
        about="Whether every message is signed.",
    ),
    "multichannel": Option(
        yes_or_no,
        {"true": "multichannel", "false": ""}.__getitem__,
        lambda mounted_with: str("multichannel" in mounted_with).lower(),
        about="Whether a session may have several connections, over every network that both hosts are on.",
    ),
}
# What `smbutil statshares` and `smbutil multichannel` say is read back. A Mac can be held to SMB 2 or to SMB 3, of
# which it takes the newest that the server has
MACOS_OPTIONS = {
    "dialect": replace(
        OPTIONS["dialect"],
        mount_option=lambda level: f"protocol_vers_map={2 if level < '3' else 4}",
        read_level=lambda negotiated: negotiated.get("dialect", "").removeprefix("SMB "),
    ),
    "signing": replace(
        OPTIONS["signing"],
        mount_option={"true": "signing_required=yes", "false": "signing_required=no"}.__getitem__,
        read_level=lambda negotiated: str(negotiated["signing"] != "off").lower() if "signing" in negotiated else "",
    ),
    "multichannel": replace(
        OPTIONS["multichannel"],
        mount_option={"true": "mc_on=yes", "false": "mc_on=no"}.__getitem__,
        read_level=lambda negotiated: {"on": "true", "off": "false"}.get(negotiated.get("multichannel", ""), ""),
    ),
}
