"""Ask an SMB server whether it supports F_FULLFSYNC, as smbfs does: in an AAPL context of the first CREATE. This is a
small client of SMB 2.1; GVfs, which mounts here, sends no such context. Formats: MS-SMB2 2.2, for the login MS-NLMP 2.2
and 3.3.2. The context is from SMBClient, smb_smb_2.c; Samba answers it in vfs_fruit.c.
"""

import errno
import hashlib
import hmac
import os
import socket
import struct
import time

from .md4 import md4
from .smb_negotiate import HEADER_BYTES, PORT
from .tcp_stream import receive_exactly

NEGOTIATE, SESSION_SETUP, TREE_CONNECT, CREATE = 0, 1, 3, 5
SIGNED = 8  # a flag of the header
MORE_PROCESSING = 0xC0000016
# Unicode, target name, signing, NTLM, always sign, extended security, target information, 128 and 56 bits
NTLM_FLAGS = 0xA0888215
SINCE_1601_S = 11644473600  # from the beginning of FILETIME to that of time_t
READ_ATTRIBUTES, SHARE_ALL, OPEN, DIRECTORY = 0x80, 7, 1, 1
QUERY, SERVER_CAPS, VOLUME_CAPS = 1, 1, 2  # of the AAPL context
FULL_SYNC = 4  # of the capabilities of a volume: kAAPL_SUPPORTS_FULL_SYNC


def takes_part_in_full_sync(server: str, share: str, account: str, password: str, timeout_s: float) -> bool:
    """Log in, and ask. Raises OSError if the server refuses the account or ends the connection."""
    with socket.create_connection((server, PORT), timeout_s) as connection:
        client = _Client(connection)
        client.log_in(account, password)
        client.connect(rf"\\{server}\{share}")
        return bool(client.volume_capabilities() & FULL_SYNC)


class _Client:
    """One connection: the numbers for the next request, and the key that signs requests after the login."""

    def __init__(self, connection: socket.socket):
        self.connection, self.message, self.session, self.tree, self.key = connection, 0, 0, 0, b""

    def _ask(self, command: int, body: bytes, expected: int = 0) -> bytes:
        """Send a request and return the answer, its header included. Raises OSError for another status."""
        flags = SIGNED if self.key else 0
        numbers = (self.message, 0, self.tree, self.session)
        header = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 1, 0, command, 31, flags, 0, *numbers, b"")
        if self.key:
            header = header[:48] + hmac.digest(self.key, header + body, "sha256")[:16]
        self.message += 1
        self.connection.sendall(struct.pack(">I", len(header + body)) + header + body)
        length = struct.unpack(">I", receive_exactly(self.connection, 4))[0] & 0xFFFFFF
        answer = receive_exactly(self.connection, length)
        if len(answer) < HEADER_BYTES + 8 or struct.unpack_from("<I", answer, 8)[0] != expected:
            raise OSError(errno.EACCES, f"SMB command {command} is refused")
        self.tree, self.session = struct.unpack_from("<IQ", answer, 36)
        return answer

    def log_in(self, account: str, password: str) -> None:
        """NEGOTIATE for 2.1, then NTLMv2 without SPNEGO, which servers accept too."""
        self._ask(NEGOTIATE, struct.pack("<HHHHI16sQH", 36, 1, 1, 0, 0, os.urandom(16), 0, 0x0210))
        first = struct.pack("<8sIIQQ", b"NTLMSSP", 1, NTLM_FLAGS, 0, 0)
        answer = self._ask(SESSION_SETUP, _session_setup(first), MORE_PROCESSING)
        position, length = struct.unpack_from("<HH", answer, HEADER_BYTES + 4)
        token, key = _authenticate(answer[position : position + length], account, password)
        self._ask(SESSION_SETUP, _session_setup(token))
        self.key = key

    def connect(self, path: str) -> None:
        """TREE_CONNECT."""
        name = path.encode("utf-16-le")
        self._ask(TREE_CONNECT, struct.pack("<HHHH", 9, 0, HEADER_BYTES + 8, len(name)) + name)

    def volume_capabilities(self) -> int:
        """The volume's capabilities from a server with extensions for Macs; 0 from another server."""
        context = struct.pack("<IHHHHI4s4xIIQQ", 0, 16, 4, 0, 24, 24, b"AAPL", QUERY, 0, SERVER_CAPS | VOLUME_CAPS, 0)
        start = HEADER_BYTES + 56
        fixed = (57, 0, 0, 2, 0, 0, READ_ATTRIBUTES, 0, SHARE_ALL, OPEN, DIRECTORY)
        body = struct.pack("<HBBIQQIIIIIHHII", *fixed, start, 0, start + 8, len(context)) + bytes(8) + context
        answer = self._ask(CREATE, body)
        position, length = struct.unpack_from("<II", answer, HEADER_BYTES + 80)
        contexts = answer[position : position + length]
        at = contexts.find(b"AAPL") + 8
        return struct.unpack_from("<Q", contexts, at + 24)[0] if at >= 8 and len(contexts) >= at + 32 else 0


def _session_setup(token: bytes) -> bytes:
    return struct.pack("<HBBIIHHQ", 25, 0, 1, 0, 0, HEADER_BYTES + 24, len(token), 0) + token


def _authenticate(challenge: bytes, account: str, password: str) -> tuple[bytes, bytes]:
    """The answer to a challenge of NTLM, and the key of the session."""
    length, _, position = struct.unpack_from("<HHI", challenge, 40)
    target, user = challenge[position : position + length], account.encode("utf-16-le")
    owner = hmac.digest(md4(password.encode("utf-16-le")), account.upper().encode("utf-16-le"), hashlib.md5)
    since_1601 = int((time.time() + SINCE_1601_S) * 10**7)
    proved = struct.pack("<HHIQ8sI", 0x0101, 0, 0, since_1601, os.urandom(8), 0) + target + bytes(4)
    proof = hmac.digest(owner, challenge[24:32] + proved, hashlib.md5)
    fields, payload = b"", b""
    for part in (bytes(24), proof + proved, b"", user, b"", b""):  # LM, NTLM, domain, account, machine, key
        fields += struct.pack("<HHI", len(part), len(part), 64 + len(payload))
        payload += part
    token = struct.pack("<8sI", b"NTLMSSP", 3) + fields + struct.pack("<I", NTLM_FLAGS) + payload
    return token, hmac.digest(owner, proof, hashlib.md5)
