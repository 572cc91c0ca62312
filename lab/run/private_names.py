"""What a hosts file names: a run notes it, so that it can be replaced in whatever strangers get to see of the run."""

from __future__ import annotations

import getpass
import socket
from contextlib import suppress
from pathlib import PurePath

from lab.hosts.hosts_file import Hosts


def private_names(config: Hosts) -> dict[str, list[str]]:
    """The names of hosts, accounts, shares, folders and devices in a hosts file, and of the controller, by kind."""
    hosts, share = [*config.clients.values(), config.server], config.share
    users = [*(host.user for host in hosts), share.account]
    with suppress(OSError, KeyError):  # of an account without a name
        users.append(getpass.getuser())
    names: dict[str, list[str | None]] = {
        "host": [socket.gethostname(), *(host.host for host in hosts)],
        "user": users,
        "share": [share.name, share.folder],
        "path": [str(folder) for folder in (share.path, share.mounted, *(host.mount_base for host in hosts)) if folder],
        "device": [PurePath(device).name for device in share.devices],
    }
    return {kind: list(dict.fromkeys(name for name in of_kind if name)) for kind, of_kind in names.items()}
