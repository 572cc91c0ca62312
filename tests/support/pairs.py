"""A pair of hosts that is real but for what a test fakes of it."""

from collections.abc import Mapping
from typing import Any, cast

from lab.hosts.hosts_file import Hosts
from lab.run.case.pair import Pair

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "client": {"host": "client", "data_address": "192.0.2.1", "interface": "eth0"},
    "server": {"host": "server", "data_address": "192.0.2.2", "interface": "eth0"},
    "share": {"account": "me", "path": "/srv/share"},
}
UNSEEN = {"host": None}  # of a server that nobody logs in to
STORE_NAME = "file-share-lab-0123456789abcdef"


def hosts_model(**changes: Mapping[str, str | None]) -> Hosts:
    """A hosts file, by section with these keys changed or, where they are None, left out."""
    sections = {
        name: {key: value for key, value in {**keys, **changes.get(name, {})}.items() if value is not None}
        for name, keys in {"lab": {}, **SECTIONS}.items()
    }
    return Hosts.model_validate(sections)


def pair_of(config: Hosts | None = None, **fakes: Mapping[str, Any]) -> Pair:
    """A pair with such a hosts file; ``fakes`` are its ``hosts``, ``platforms``, ``facts`` and ``sides`` by role."""
    parts: dict[str, Any] = {part: {} for part in ("hosts", "platforms", "facts", "sides")}
    return Pair(config=config or hosts_model(), store_name=STORE_NAME, **cast(Any, parts | fakes))
