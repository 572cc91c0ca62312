"""What an SMB server agrees to: one NEGOTIATE as in MS-SMB2 2.2.3 and 2.2.4, for SMB 1 as in MS-CIFS 2.2.4.52. GVfs
does not tell what it negotiated. This asks the same server with the same dialects, so smbutil prints the server's real
answer.
"""

import errno
import os
import socket
import struct
from dataclasses import dataclass

from .tcp_stream import receive_exactly

PORT = 445
MAC_SERVER = "macos-smbx"  # the name of an emulated Mac's Samba; it stands for smbx's answer in an AAPL context
DIALECTS = {"SMB_2.002": 0x0202, "SMB_2.1": 0x0210, "SMB_3.0": 0x0300, "SMB_3.0.2": 0x0302, "SMB_3.1.1": 0x0311}
SIGNING_ENABLED, SIGNING_REQUIRED = 1, 2
CAPABILITIES = 0x7F  # DFS, leasing, large MTU, multichannel, persistent handles, directory leasing, encryption
MULTICHANNEL = 8  # of the capabilities
HEADER_BYTES = 64
PREAUTH, ENCRYPTION, SIGNING = 1, 2, 8  # negotiate contexts
CMAC, GMAC = 1, 2


@dataclass(frozen=True)
class Negotiated:
    """The server's answer: the dialect's name, its capabilities as bits, the chosen algorithms, and its name. Samba
    sends its NetBIOS name, in small letters, as the server's GUID.
    """

    dialect: str
    signing_required: bool
    capabilities: int
    cipher: int  # 1 to 4 as in MS-SMB2 2.2.3.1.2; 0 for none
    signing: int  # CMAC or GMAC
    server: str


def negotiate(address: str, dialects: list[str], timeout_s: float) -> Negotiated:
    """Send a NEGOTIATE. Raises OSError: no connection, or EPROTONOSUPPORT if the server refuses all dialects."""
    return _parse(_answer(address, _request([DIALECTS[name] for name in dialects]), timeout_s))


def negotiate_smb1(address: str, timeout_s: float) -> None:
    """Ask only for SMB 1. Raises OSError: no connection, or EPROTONOSUPPORT if the server does not speak it."""
    name = b"\x02NT LM 0.12\0"
    header = struct.pack("<4sBIBHH8sHHHHH", b"\xffSMB", 0x72, 0, 0x18, 0xC801, 0, b"", 0, 0, 1, 0, 0)
    answer = _answer(address, header + struct.pack("<BH", 0, len(name)) + name, timeout_s)
    if answer[:4] != header[:4] or answer[32:35] != b"\x11\0\0":  # 17 words, the first of which is the dialect's index
        raise OSError(errno.EPROTONOSUPPORT, "no dialect in common")


def _answer(address: str, request: bytes, timeout_s: float) -> bytes:
    with socket.create_connection((address, PORT), timeout_s) as connection:
        connection.sendall(struct.pack(">I", len(request)) + request)
        length = struct.unpack(">I", receive_exactly(connection, 4))[0] & 0xFFFFFF
        return receive_exactly(connection, length)


def _request(dialects: list[int]) -> bytes:
    header = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, b"")
    newest = max(dialects) == DIALECTS["SMB_3.1.1"]
    body = struct.pack("<HHHHI16s", 36, len(dialects), SIGNING_ENABLED, 0, CAPABILITIES, os.urandom(16))
    names = struct.pack(f"<{len(dialects)}H", *dialects)
    if not newest:
        return header + body + bytes(8) + names
    contexts = [
        _context(PREAUTH, struct.pack("<HHH32s", 1, 32, 1, os.urandom(32))),
        _context(ENCRYPTION, struct.pack("<HHHHH", 4, 2, 1, 4, 3)),
        _context(SIGNING, struct.pack("<HHH", 2, GMAC, CMAC)),
    ]
    start = HEADER_BYTES + len(body) + 8 + len(names)
    offset = -(-start // 8) * 8
    before = header + body + struct.pack("<IHH", offset, len(contexts), 0) + names
    return before + bytes(offset - start) + b"".join(contexts)


def _context(kind: int, data: bytes) -> bytes:
    return struct.pack("<HHI", kind, len(data), 0) + data + bytes(-len(data) % 8)


def _parse(answer: bytes) -> Negotiated:
    if len(answer) < HEADER_BYTES + 64 or struct.unpack_from("<I", answer, 8)[0] != 0:
        raise OSError(errno.EPROTONOSUPPORT, "no dialect in common")
    body = answer[HEADER_BYTES:]
    _, mode, revision, count = struct.unpack_from("<HHHH", body)
    (capabilities,) = struct.unpack_from("<I", body, 24)
    names = {value: name for name, value in DIALECTS.items()}
    if revision not in names:
        raise OSError(errno.EPROTONOSUPPORT, f"dialect {revision:#x}")
    chosen = {PREAUTH: 0, ENCRYPTION: 0, SIGNING: CMAC}
    if names[revision] == "SMB_3.1.1":
        (position,) = struct.unpack_from("<I", body, 60)
        for _ in range(count):
            kind, length = struct.unpack_from("<HH", answer, position)
            if kind in (ENCRYPTION, SIGNING):
                (chosen[kind],) = struct.unpack_from("<H", answer, position + 10)
            position += 8 + -(-length // 8) * 8
    server = body[8:24].rstrip(b"\0").decode(errors="replace")
    required = bool(mode & SIGNING_REQUIRED)
    return Negotiated(names[revision], required, capabilities, chosen[ENCRYPTION], chosen[SIGNING], server)
