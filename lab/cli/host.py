"""`lab host`: the helper of a narrow sudo, put on hosts and taken away."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Commands, Example, Run, add_command
from lab.cli.terminal import RESULTS, show

if TYPE_CHECKING:
    from lab.hosts.hosts_file import Hosts
    from lab.hosts.ssh import SshHost

SUMMARY = "a narrow sudo: the lab's helper, put on a host and taken away"
ROLES = ("client", "server")


def add_commands(commands: Commands) -> None:
    def command(name: str, run: Run, text: str, *examples: Example) -> argparse.ArgumentParser:
        subparser = add_command(commands, name, run, text, examples)
        options.add_hosts(subparser)
        subparser.set_defaults(results=RESULTS)
        subparser.add_argument("host", choices=ROLES, nargs="?", help="which host (default: those with sudo = helper)")
        return subparser

    text = "let the account of a host run the lab's helper as root, and nothing else, by the sudo that it has now"
    all_hosts = Example("lab host install", "on each host with sudo = helper in hosts.ini")
    printed = Example("lab host install server --print", "what would be put on the server; changes nothing")
    install = command("install", _install, text, all_hosts, printed)
    options.add_flag(install, "--print", "print all that would be put there; change nothing")
    remove = Example("lab host remove --hosts nas.ini", "from each host with sudo = helper in that file")
    command("remove", _remove, "take helper and line of sudoers away; safe to repeat", remove)


def _install(arguments: argparse.Namespace) -> int:
    from lab.hosts.ssh import HELPERS
    from lab.root_helper import program as root_helper

    config, roles = _chosen(arguments)
    if arguments.print:
        for role in roles:
            account = (config.section(role).user or "account").lower()
            for system, helper in HELPERS.items():
                print(f"# {role}, {system}: as {root_helper.SUDOERS}:\n{root_helper.sudoers_line(account, helper)}")
        for system, helper in HELPERS.items():
            print(f"# {system}: as {helper}:\n{root_helper.program(system)}")
        print(f"# put there by:\n{root_helper.INSTALL}", end="")
        return 0
    for role in roles:
        with _with_plain_sudo(role, config) as (host, system):
            account = host.run("id", "-un").stdout.strip()
            _show(role, root_helper.install(account, HELPERS[system], root_helper.program(system)).run(host))
            root_helper.check_answer(host, HELPERS[system], root_helper.sudoers_line(account, HELPERS[system]))
            if host.run("sudo", "-k", "-n", "--", "/bin/sh", "-c", ":", check=False).exit_code == 0:
                show(f"{role}: but {account} may run everything without a password: `sudo -l` there says by which line")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    """Raises LabFailure if a run uses a host, or left it changed: only the helper may be able to put it back."""
    from lab.hosts.ssh import HELPERS
    from lab.root_helper import program as root_helper
    from lab.run.begin.look import check_free

    config, roles = _chosen(arguments)
    for role in roles:
        with _with_plain_sudo(role, config) as (host, system):
            check_free({role: host})
            _show(role, root_helper.remove(HELPERS[system]).run(host))
    return 0


def _chosen(arguments: argparse.Namespace) -> tuple[Hosts, list[str]]:
    """The hosts file, and the roles to change. Raises BadInput for none."""
    from lab.hosts.hosts_file import load_hosts

    path = options.hosts_file(arguments)
    config = load_hosts(path)
    with_helper = (name for name in config.names if config.section(name).sudo == "helper")
    roles = [arguments.host] if arguments.host else list(with_helper)
    if not roles:
        raise BadInput(f"{path}: no section has sudo = helper", "give it to a host, or name the host: client or server")
    for role in roles:
        if config.section(role).sudo == "none":
            raise BadInput(f"{path}: [{role}] sudo = none: root needs no helper", "log in as another account")
    return config, roles


@contextmanager
def _with_plain_sudo(role: str, config: Hosts) -> Iterator[tuple[SshHost, str]]:
    """A host by the account's own sudo, because the helper cannot replace itself; and the host's system."""
    from lab.hosts.ssh import HELPERS, SshHost

    section = config.section(role)
    host = SshHost(role, section.model_copy(update={"sudo": "nopasswd"}))
    try:
        if host.run("/bin/sh", "-c", ":", root=True, check=False).exit_code != 0:
            host.close()
            host = SshHost(role, section.model_copy(update={"sudo": "password"}))
        system = host.run("uname", "-s").stdout.strip()
        if system not in HELPERS:
            raise BadInput(f"{config.place}[{role}] sudo = helper: there is none for {system}", "give sudo = password")
        yield host, system
    finally:
        host.close()


def _show(role: str, text: str) -> None:
    for line in text.splitlines():
        show(f"{role}: {line}")
