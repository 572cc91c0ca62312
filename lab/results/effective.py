"""What was in effect during one transfer, as read back: the key ``effective`` of a line of trials.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class Effective(JsonObject):
    """What was in effect while the bytes moved, as both hosts and the mount report it. A key is absent where unknown.

    Sizes of TCP buffers stand as the system reports them: on Linux least, default and largest size in bytes.
    """

    client_tcp_rmem: str | None = None
    """``net.ipv4.tcp_rmem`` of a client on Linux: receive buffers, bytes."""
    client_tcp_wmem: str | None = None
    """``net.ipv4.tcp_wmem`` of a client on Linux: send buffers, bytes."""
    client_sendspace: str | None = None
    """``net.inet.tcp.sendspace`` of a client on macOS, bytes."""
    client_recvspace: str | None = None
    """``net.inet.tcp.recvspace`` of a client on macOS, bytes."""
    client_mtu: str | None = None
    """MTU of the client's data interface, bytes."""
    server_tcp_rmem: str | None = None
    """``net.ipv4.tcp_rmem`` of a server on Linux: receive buffers, bytes."""
    server_tcp_wmem: str | None = None
    """``net.ipv4.tcp_wmem`` of a server on Linux: send buffers, bytes."""
    server_sendspace: str | None = None
    """``net.inet.tcp.sendspace`` of a server on macOS, bytes."""
    server_recvspace: str | None = None
    """``net.inet.tcp.recvspace`` of a server on macOS, bytes."""
    server_mtu: str | None = None
    """MTU of the server's data interface, bytes."""
    client_ram_disk: str | None = None
    """The client's RAM disk, in words."""
    server_ram_disk: str | None = None
    """The server's RAM disk, in words; of a trial whose files lie on it."""
    server_sync: str | None = None
    """What the server promises about written data: ``async``, ``sync`` or ``always``."""
    server_sync_by: str | None = None
    """The option of the server that makes it so."""
    mount: str | None = None
    """Who mounts: ``kernel``, ``gvfs`` or ``mount_afpfs``; ``none`` for SSH."""
    rsize: int | None = None
    """Bytes that the mount reads in one request at most."""
    wsize: int | None = None
    """Bytes that the mount writes in one request at most."""
    dialect: str | None = None
    """Version of the file protocol that client and server agreed on."""
    signing: str | None = None
    """Signing of SMB messages."""
    encryption: str | None = None
    """Encryption of SMB messages."""
    multichannel: str | None = None
    """``on`` or ``off``: whether SMB may use several connections."""
    session: str | None = None
    """``own`` where the mount of a Mac has an SMB session of its own."""
    cipher: str | None = None
    """The cipher of SSH."""
    mount_options: str | None = None
    """The options of the mount, as the system lists them."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Options of the mount by their names in a sweep, such as ``smb.signing``, and what else a driver reports."""
    server_cache: str | None = None
    """Of a read: ``warm`` where the server had the file in memory, ``cold`` where it had not."""
    clock: str | None = None
    """The clock that timed it: ``monotonic``, or ``wall`` where the client has no better one."""
    flushed: str | None = None
    """How written data was flushed in the timed window: ``none``, ``fsync`` or ``F_FULLFSYNC``, and why not better."""
    tool_version: str | None = None
    """Version of the tool on the client."""
    server_tool_version: str | None = None
    """Version of the tool on the server, where it runs at both ends."""
    client_sndbuf: int | None = None
    """Bytes that the kernel allowed the client's send buffer, bookkeeping included."""
    client_rcvbuf: int | None = None
    """Bytes that the kernel allowed the client's receive buffer, bookkeeping included."""
    server_sndbuf: int | None = None
    """Bytes that the kernel allowed the server's send buffer, bookkeeping included."""
    server_rcvbuf: int | None = None
    """Bytes that the kernel allowed the server's receive buffer, bookkeeping included."""
