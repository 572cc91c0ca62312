"""The hosts file that `lab init` writes, commented like the template that comes with the lab."""

from collections.abc import Iterator
from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.validation import read_text
from lab.hosts.sections import is_untouched
from lab.init.questions import Answers, HostAnswer

PAGE = "docs/reference/hosts-file.md"
SUDO = """\
# How root commands (MTU, sysctl, mount) are run: password (the account's own, for sudo), nopasswd (sudo asks for none),
# helper (sudo allows one program of the lab: docs/how-to/give-a-narrow-sudo.md), or none (without root, or by root)."""


def check_place(path: Path) -> bool:
    """True if ``path`` holds the untouched template, which may be overwritten. Raises BadInput for any other file."""
    if not path.is_symlink() and not path.exists():
        if not path.parent.is_dir():
            raise BadInput(f"{path}: there is no folder {path.parent}", "make it, or give another --hosts FILE")
        return False
    if not is_untouched(read_text(path, "")):
        raise BadInput(
            f"{path}: is there already, and filled in: it is not written over",
            f"`lab check --hosts {path}` looks at it; `lab init --hosts FILE` writes another",
        )
    return True


def write(path: Path, answers: Answers) -> None:
    """Write the hosts file in one step. Raises BadInput like :func:`check_place`, and OSError."""
    save = durable.replace if check_place(path) else durable.create
    save(path, hosts_text(answers).encode())


def hosts_text(answers: Answers) -> str:
    """The text of the hosts file."""
    lines = [
        f"# Written by `lab init`. All keys: {PAGE}. A value ends at the end of its line.",
        *("", "[client]", *_client(answers)),
        *("", "[server]", *_server(answers)),
        *("", "[share]", *_share(answers)),
    ]
    return "\n".join([*lines, ""])


def _client(answers: Answers) -> Iterator[str]:
    client = answers.client
    if client.host:
        yield "# The machine that mounts the share, reached by SSH."
        yield from _login(client)
    else:
        yield "# This machine mounts the share, without SSH."
        yield "transport = local"
    yield f"# Its address on the link that is measured{f', of {client.interface}' if client.interface else ''}."
    yield f"data_address = {client.address}"
    yield SUDO
    yield f"sudo = {answers.sudo_of(client)}"


def _server(answers: Answers) -> Iterator[str]:
    server = answers.server
    if server.host:
        yield "# The machine that has the share, reached by SSH."
        yield from _login(server)
        yield "# Its address on the link that is measured."
        yield f"data_address = {server.address}"
        yield f"sudo = {answers.sudo_of(server)}"
    else:
        yield f"# {server.name}, which nobody logs in to: it is seen from the client alone."
        yield f"data_address = {server.address}"
        yield "# Where an iperf3 listens there, if one does: with it the link is measured too."
        yield f"# iperf3 = {server.address}"


def _login(host: HostAnswer) -> Iterator[str]:
    yield f"host = {host.host}"
    if host.user:
        yield f"user = {host.user}"


def _share(answers: Answers) -> Iterator[str]:
    share, account = answers.share, answers.account
    if share.mounted:
        yield "# A folder of this machine where the share is mounted already: it is used as it is."
        yield f"mounted = {share.mounted}"
        return
    if share.by_lab:
        yield "# The lab serves a folder for the time of a run."
        yield "serve = lab"
        yield "# An account that the server has. Only Samba on Linux takes any."
    else:
        yield "# A share that is there already is used as it is, in a folder of the lab's own inside it."
        yield "serve = existing"
        if share.path:
            yield f"# Its folder on the server{', a guess: put it right' if share.guessed else ''}."
            yield f"path = {share.path}"
        if share.name:
            yield "# What clients ask for."
            yield f"name = {share.name}"
        yield "# The account of the share; NFS does not use it."
    yield f"account = {account.name}"
    yield "# Where its password comes from: prompt, env:VARIABLE, file:PATH (mode 0600) or keyring:SERVICE."
    yield f"password = {account.password}"
