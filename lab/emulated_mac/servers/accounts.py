"""The password of the Mac's users, which servers with databases of their own need."""

from __future__ import annotations

from pathlib import Path

from ..kernel import Kernel

USERS = ("lab", "you")
PASSWORD = Path("/linux/etc/darwin-password")  # root's alone


def password() -> str:
    """As chpasswd got it."""
    return PASSWORD.read_text()


def hash_types(kernel: Kernel) -> list[str]:
    """What pwpolicy -gethashtypes prints, line by line (macOS 10.15 to 15); SMB needs the last.

    A Mac keeps that once the account is ticked under Windows File Sharing, which this one is unless a fault says no.
    """
    found = ["SALTED-SHA512-PBKDF2", "SRP-RFC5054-4096-SHA512-PBKDF2"]
    return found if kernel.fault("smb-no-hash") else [*found, "SMB-NT"]
