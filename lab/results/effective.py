"""What was in effect during one transfer, as read back: the key ``effective`` in trials.jsonl."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class Effective(JsonObject):
    """What was in effect while the bytes moved, as both hosts and the mount report it. An unknown key is absent.

    TCP buffers are as the system reports them: on Linux the least, default and largest size in bytes.
    """

    client_tcp_rmem: str | None = None  #: ``net.ipv4.tcp_rmem`` on Linux: receive buffers of the system, bytes.
    client_tcp_wmem: str | None = None  #: ``net.ipv4.tcp_wmem`` on Linux: send buffers of the system, bytes.
    client_sendspace: str | None = None  #: ``net.inet.tcp.sendspace`` on macOS, bytes.
    client_recvspace: str | None = None  #: ``net.inet.tcp.recvspace`` on macOS, bytes.
    client_mtu: str | None = None  #: MTU of the data interface during the transfer, bytes.
    server_tcp_rmem: str | None = None  #: ``net.ipv4.tcp_rmem`` on Linux: receive buffers of the system, bytes.
    server_tcp_wmem: str | None = None  #: ``net.ipv4.tcp_wmem`` on Linux: send buffers of the system, bytes.
    server_sendspace: str | None = None  #: ``net.inet.tcp.sendspace`` on macOS, bytes.
    server_recvspace: str | None = None  #: ``net.inet.tcp.recvspace`` on macOS, bytes.
    server_mtu: str | None = None  #: MTU of the data interface during the transfer, bytes.
    client_other_interfaces: str | None = None
    """What crossed the client's other interfaces during the transfer, if it was 1 % of the payload or more."""
    server_other_interfaces: str | None = None  #: The same for the server.
    client_ram_disk: str | None = None
    """The client's RAM disk: its file system, on Linux with the options of its mount."""
    server_ram_disk: str | None = None  #: The server's RAM disk likewise, if the files are on it.
    server_store: str | None = None
    """The file system that the lab made for the trial: its own description, its mount options, and what the image is
    on."""
    server_sync: str | None = None  #: When the server counts written data as safe: ``async``, ``sync`` or ``always``.
    server_sync_by: str | None = None  #: The server's option or program that decides it.
    mount: str | None = None
    """What mounts: ``kernel``, ``gvfs``, ``mount_afpfs`` or ``sshfs``; ``none`` for SSH without a mount."""
    rsize: int | None = None  #: Bytes of the largest read request.
    wsize: int | None = None  #: Bytes of the largest write request.
    dialect: str | None = None  #: Version of the file protocol that client and server agreed on, or of the SSH server.
    signing: str | None = None  #: Signing of SMB messages.
    encryption: str | None = None  #: Encryption of SMB messages.
    multichannel: str | None = None
    """Whether the SMB mount may have several channels, ``on`` or ``off``, if a Mac or somebody else mounted the
    share."""
    session: str | None = None  #: ``own`` if a Mac's SMB mount has a session of its own.
    cipher: str | None = None  #: The cipher of SSH.
    mount_options: str | None = None  #: The options of a kernel mount, in the system's words.
    other: Mapping[str, object] = field(default_factory=dict)
    """Options of mount and store by their names in a sweep, such as ``smb.signing``, and other reports of a driver."""
    server_cache: str | None = None  #: For a read: ``warm`` if the server had the file in memory, else ``cold``.
    written_by: str | None = None
    """For a read, who wrote the file: the ``server``, the client through its mount (``own``), or another client
    (``other``)."""
    clock: str | None = None  #: The clock that timed it: ``monotonic``, or ``wall`` if the client has no better one.
    flushed: str | None = None
    """How written data was flushed in the measured time: ``none``, ``fsync`` or ``F_FULLFSYNC``, and in parentheses why
    there was no better way."""
    tool_version: str | None = None  #: The program that copied, with its version.
    server_tool_version: str | None = None  #: The same for the server's end, if the tool runs at both.
    client_sndbuf: int | None = None
    """Send buffer of the payload's connection, bytes: what the kernel allowed, on Linux twice what a program asks for
    (socket(7))."""
    client_rcvbuf: int | None = None  #: Its receive buffer, likewise.
    server_sndbuf: int | None = None
    """Send buffer of the payload's connection, bytes: what the kernel allowed, on Linux twice what a program asks for
    (socket(7))."""
    server_rcvbuf: int | None = None  #: Its receive buffer, likewise.
