"""What run.json says of a run that was measured from the client alone: the share, and the client's end of the link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.results.json_object import JsonObject

if TYPE_CHECKING:
    from lab.results.trial import RunJson


@dataclass(frozen=True, kw_only=True)
class MeasuredShare(JsonObject):
    """The share that was measured: the key ``target`` of run.json."""

    protocol: str | None = None
    """``smb``, ``nfs``, ``afp`` or ``ssh``."""
    server: str | None = None
    """Its server, as the target or the table of mounts names it."""
    share: str | None = None
    """Its name; of NFS the exported path."""
    path: str | None = None
    """The folder on the client that was measured."""
    mounted_by: str | None = None
    """``lab``, or ``somebody``: of a share that was mounted already."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class ClientLink(JsonObject):
    """The client's interface that leads to the server: the key ``link`` of run.json."""

    interface: str | None = None
    """Its name."""
    bits_per_s: int | None = None
    """The speed that it has negotiated; of Wi-Fi the rate at which its radio sent when the run began."""
    duplex: str | None = None
    """``full`` or ``half``."""
    medium: str | None = None
    """``wired`` or ``wireless``."""
    mtu: int | None = None
    """Its MTU in bytes."""
    tunnel: bool | None = None
    """Whether it is that of a VPN or another tunnel."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""

    @property
    def wireless(self) -> bool:
        """Whether it is Wi-Fi."""
        return self.medium == "wireless"


def is_one_sided(run: RunJson) -> bool:
    """Whether a run saw nothing of its server."""
    hosts = run.get("hosts", {})
    return "client" in hosts and "server" not in hosts


def link_of(run: RunJson) -> ClientLink:
    """The client's end of the link; with nothing in it where run.json does not tell."""
    return ClientLink.from_json(run.get("link", {}))


def share_of(run: RunJson) -> MeasuredShare:
    """The share that was measured; with nothing in it where run.json does not tell."""
    return MeasuredShare.from_json(run.get("target", {}))
