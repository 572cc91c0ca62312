"""SMB, on every platform that has it."""

from lab.protocols.smb.protocol import PROTOCOL as PROTOCOL
