"""What a hosts file names: a run notes it, so that it can be replaced in whatever strangers get to see of the run."""

import getpass
import os
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath

import lab
from lab.hosts.hosts_file import Hosts
from lab.settings.register import Register


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


def code_version() -> str:
    """The version, with the commit where this is a git checkout, marked where it has uncommitted changes."""
    top = Path(__file__).parents[2]
    command = ["git", "-C", str(top), "describe", "--always", "--dirty", "--abbrev=12"]
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(top.parent)}  # one further up is not the lab's
    try:
        commit = subprocess.run(  # noqa: S603 – git, and the folder of this file
            command, capture_output=True, text=True, check=True, timeout=10, env=environment
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return lab.__version__
    return f"{lab.__version__}+{commit}"


def origin(config: Hosts, about: Mapping[str, object]) -> dict[str, object]:
    """What run.json says ``about`` a run, with its hosts, the program, and the seal that it was begun here."""
    register = Register()
    hosts = {"instance": config.lab.instance, "hosts_file": str(config.path), "names": private_names(config)}
    version = {"code_version": about.get("code_version") or code_version()}
    return register.sign({**about, **version, **hosts, "hosts_digest": register.digest(config)})
