"""Who began a run, on which hosts: what run.json says, and whether the run may be resumed."""

import getpass
import os
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath

import lab
from lab.base.errors import BadInput
from lab.base.untrusted import first_line
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.results.run_folder import RunFolder
from lab.run.restore import foreign
from lab.run.restore.put_back import load_unchanged
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal
from lab.settings.register import Register

TRUST = "look at its run.json; then `lab run --resume RUN --trust --hosts FILE`, with a hosts file of your own"


def private_names(config: Hosts) -> dict[str, list[str]]:
    """The names of hosts, accounts, shares, folders and devices in a hosts file, and of the controller, by kind.

    They are replaced in what strangers get to see of a run.
    """
    hosts, share = [*config.clients.values(), config.server], config.share
    users = [*(host.user for host in hosts), share.account]
    with suppress(OSError, KeyError):  # an account may have no name
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
    """The version; in a git checkout with the commit, and a mark for uncommitted changes."""
    top = Path(__file__).parents[2]
    command = ["git", "-C", str(top), "describe", "--always", "--dirty", "--abbrev=12"]
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(top.parent)}  # a checkout further up is not the lab's
    try:
        commit = subprocess.run(  # noqa: S603 – git, and the folder of this file
            command, capture_output=True, text=True, check=True, timeout=10, env=environment
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return lab.__version__
    return f"{lab.__version__}+{commit}"


def origin(config: Hosts, about: Mapping[str, object]) -> dict[str, object]:
    """The entries of run.json ``about`` a run, with its hosts, the program, and the seal of this controller."""
    register = Register()
    hosts = {"instance": config.lab.instance, "hosts_file": str(config.path), "names": private_names(config)}
    version = {"code_version": about.get("code_version") or code_version()}
    return register.sign({**about, **version, **hosts, "hosts_digest": register.digest(config)})


def hosts_of(register: Register, folder: RunFolder, hosts_file: Path | None, trust: bool) -> Hosts:
    """The hosts to resume a run on: of the file that was named, else of the run's own file. Raises BadInput.

    The run's own file counts only if this controller wrote its name, and the file has not changed.
    """
    began = register.began(folder.run)
    if not began and not (trust and hosts_file):
        named = first_line(str(folder.run.get("hosts_file", "")))
        raise BadInput(
            f"{folder.path}: this account did not begin this run, or what its run.json says was changed since: neither "
            f"the hosts of {named!r}, which it names, are reached nor its sweep run",
            TRUST,
        )
    if hosts_file:
        return load_hosts(hosts_file)
    return load_unchanged(register, folder.text("hosts_file"), folder.text("hosts_digest"))


def check_journal(register: Register, folder: RunFolder, trust: bool) -> None:
    """Raise BadInput if the run left hosts changed, or its journal is not what this controller wrote."""
    first = BadInput(f"{folder.path}: an earlier end of this run left hosts changed", "run `lab restore` first")
    if register.began(folder.run):
        if register.is_open(folder.text("id")):
            raise first
        if trust:
            return
        try:
            foreign.look(folder.path)  # a journal that is a link, or no file, is not even opened
            records = Journal(folder.journal_path, line_format(), register.seals(folder.text("id"))).open
        except BadInput as error:
            raise BadInput(f"{error.cause()}: not what this run wrote there", TRUST) from error
        if records:
            raise BadInput(f"{folder.journal_path}: has changes that were put back long ago", TRUST)
    elif records := foreign.look(folder.path):
        raise BadInput(
            f"{folder.path}: {foreign.count(records)} of its journal were not put back:\n{foreign.describe(records)}",
            f"`lab restore --trust {folder.path} --hosts FILE` puts that back",
            several=True,
        )


def adopt(folder: RunFolder, run: Mapping[str, object]) -> None:
    """Make a run one of this controller's, with the content of a new run.json; its journal so far is put aside."""
    foreign.put_aside(folder.path)
    folder.update(**run)
