"""``smb.encryption``: whether the Linux client asks for encrypted messages. An entry for OPTIONS of SMB."""

from lab.design.option_levels import yes_or_no
from lab.protocols.options import Option

ENCRYPTION = Option(
    yes_or_no,  # what a sweep may say: true, false
    {"true": "seal", "false": ""}.__getitem__,  # the option of mount.cifs(8) for each
    lambda mounted_with: str("seal" in mounted_with).lower(),  # the level in effect, by the table of mounts
    about="Whether every message is encrypted.",
)
