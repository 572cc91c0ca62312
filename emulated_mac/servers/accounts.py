"""The Mac's users and their password, for servers that keep a database of passwords."""

from pathlib import Path

from ..kernel.system_calls import Kernel

USERS = ("lab", "you")
PASSWORD = Path("/linux/etc/emulated-mac-password")  # only for root


def read_password() -> str:
    """The password of both users."""
    return PASSWORD.read_text()


def hash_types(kernel: Kernel) -> list[str]:
    """What pwpolicy -gethashtypes prints, line by line (macOS 10.15 to 15).

    SMB needs ``SMB-NT``, which a Mac keeps once the account is ticked under Windows File Sharing. Here it is ticked,
    unless the fault ``smb-no-hash`` is on.
    """
    types = ["SALTED-SHA512-PBKDF2", "SRP-RFC5054-4096-SHA512-PBKDF2"]
    return types if kernel.fault("smb-no-hash") else [*types, "SMB-NT"]
