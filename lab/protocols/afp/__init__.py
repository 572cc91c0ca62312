"""AFP, on every platform that has it."""

from lab.protocols.afp.protocol import PROTOCOL as PROTOCOL
