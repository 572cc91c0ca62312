"""NFS, on every platform that has it."""

from lab.protocols.nfs.protocol import PROTOCOL as PROTOCOL
