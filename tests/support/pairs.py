"""A host as drivers see it, and a pair of hosts with faked parts."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import SecretStr

from lab.hosts import Host
from lab.hosts.hosts_file import Hosts
from lab.protocols import Share, Side
from lab.run.case.pair import Pair

OWN_NAME = "file-share-lab-01234567"  # the name of a run's folder
OWN = f"/tmp/{OWN_NAME}"


def share_of(path: str = f"{OWN}/ram", server_sync: str = "default", old_dialect: str = "", **options: str) -> Share:
    """A share that the lab serves; ``options`` are options of its protocol."""
    return Share(path, "share", "account", SecretStr("x"), True, server_sync, old_dialect, options)


def side_of(
    host: Host, platform: str = "linux", address: str = "192.0.2.2", directory: str = OWN, user: str = "me"
) -> Side:
    """A side that treats a file ``port-N`` as something that listens on port N."""
    return Side(host, platform, address, directory, user, "[ -e port-{} ]".format)


SECTIONS: Mapping[str, Mapping[str, str]] = {
    "client": {"host": "client", "data_address": "192.0.2.1", "interface": "eth0"},
    "server": {"host": "server", "data_address": "192.0.2.2", "interface": "eth0"},
    "share": {"account": "me", "path": "/srv/share"},
}
UNSEEN = {"host": None}  # a server without login
STORE_NAME = "file-share-lab-0123456789abcdef"


def hosts_model(**changes: Mapping[str, str | None]) -> Hosts:
    """A hosts file, with keys changed or, if None, left out, by section."""
    sections = {
        name: {key: value for key, value in {**keys, **changes.get(name, {})}.items() if value is not None}
        for name, keys in {"lab": {}, **SECTIONS}.items()
    }
    return Hosts.model_validate(sections)


def pair_of(config: Hosts | None = None, **fakes: Mapping[str, Any]) -> Pair:
    """A pair with this hosts file; ``fakes`` are its ``hosts``, ``platforms``, ``facts`` and ``sides`` by role."""
    parts: dict[str, Any] = {part: {} for part in ("hosts", "platforms", "facts", "sides")}
    return Pair(config=config or hosts_model(), store_name=STORE_NAME, **cast(Any, parts | fakes))
