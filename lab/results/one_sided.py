"""A run of `lab measure`, measured from the client alone: its share and its end of the link in run.json."""

from dataclasses import dataclass

from lab.results.json_object import JsonObject, RunJson


@dataclass(frozen=True, kw_only=True)
class MeasuredShare(JsonObject):
    """The share that was measured: the key ``target`` of run.json."""

    protocol: str | None = None  #: ``smb``, ``nfs``, ``afp`` or ``ssh``.
    server: str | None = None  #: Its server, as in the target or the mount table.
    share: str | None = None  #: Its name; for NFS the exported path.
    path: str | None = None  #: The folder on the client that was measured.
    mounted_by: str | None = None  #: ``lab``, or ``somebody`` if it was mounted already.


@dataclass(frozen=True, kw_only=True)
class ClientLink(JsonObject):
    """The client's interface that leads to the server: the key ``link`` of run.json."""

    interface: str | None = None  #: Its name.
    bits_per_s: int | None = None  #: Its negotiated speed; for Wi-Fi the rate of its radio when the run began.
    duplex: str | None = None  #: ``full`` or ``half``.
    medium: str | None = None  #: ``wired`` or ``wireless``.
    mtu: int | None = None  #: Its MTU in bytes.
    tunnel: bool | None = None  #: Whether it belongs to a VPN or another tunnel.

    @property
    def wireless(self) -> bool:
        """Whether it is Wi-Fi."""
        return self.medium == "wireless"


def is_one_sided(run: RunJson) -> bool:
    """Whether a run had no access to its server."""
    hosts = run.get("hosts", {})
    return "client" in hosts and "server" not in hosts


def link_of(run: RunJson) -> ClientLink:
    """The client's end of the link, as far as run.json tells."""
    return ClientLink.from_json(run.get("link", {}))


def share_of(run: RunJson) -> MeasuredShare:
    """The measured share, as far as run.json tells."""
    return MeasuredShare.from_json(run.get("target", {}))
