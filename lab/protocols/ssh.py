"""rsync over SSH: no mount. A share served by the lab gets an sshd of its own, with keys made for the run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator
from types import MappingProxyType
from typing import Any

from lab.daemon import daemon, listening
from lab.errors import LabFailure, Unsupported
from lab.protocols.base import Attached, Dialect, Protocol, Share, Side, Steps
from lab.settings import Setting
from lab.untrusted import first_line

PORT = 22
OWN_PORT = 22022
SSHD_CONFIG = """\
Port {port}
ListenAddress {address}
HostKey "{state}/host_key"
AuthorizedKeysFile "{state}/authorized_keys"
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
PidFile none
"""
# keys live as long as the run
MAKE_KEY = '[ -e "$1" ] || ssh-keygen -q -t ed25519 -N "" -f "$1"; cat "$1.pub"'


class UnixSsh(Dialect):
    """OpenSSH, which is the same on every platform."""

    serves_with = MappingProxyType({"sshd": "openssh-server", "ssh-keygen": "openssh-client"})

    def serve(self, server: Side, share: Share) -> Steps:
        """A second sshd: its sockets are made after the TCP buffers are set, and no account's keys are touched."""
        state = f"{server.directory}/ssh"
        server.host.run("mkdir", "-m", "700", "-p", state)
        server.host.shell(MAKE_KEY, f"{state}/host_key")
        server.write("ssh/authorized_keys", "")
        config = server.write("ssh/sshd_config", SSHD_CONFIG.format(port=OWN_PORT, address=server.address, state=state))
        # sshd insists on being called by its full path
        program = server.host.shell("command -v sshd").stdout.strip()
        argv = (program, "-D", "-e", "-f", config)
        yield daemon(server.host.role, "sshd", argv, state, listening(OWN_PORT), root=False)

    def how(self, client: Side) -> str:
        """By the ssh program. Raises Unsupported where there is none."""
        if client.host.shell("command -v ssh", check=False).exit_code != 0:
            raise Unsupported(f"{client.host.role}: no ssh: `apt-get install openssh-client`")
        return "rsync over ssh, no mount"

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """The command that leads to the server; proven by logging in once."""
        ssh = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
        if share.served_by_lab:
            ssh += self._own_keys(client, server)
        said = client.host.run(*ssh, "-v", "--", f"{server.user}@{server.address}", "true").stderr
        yield from ()
        return Attached(
            f"{server.user}@{server.address}:{share.path}",
            remote_shell=shlex.join(ssh),
            effective={"mount": "none", **parse_verbose(said)},
        )

    def _own_keys(self, client: Side, server: Side) -> list[str]:
        key, known_hosts = f"{client.directory}/ssh_key", f"{client.directory}/ssh_known_hosts"
        server.write("ssh/authorized_keys", f"{_public_key(client, key)}\n")
        host_key = _public_key(server, f"{server.directory}/ssh/host_key")
        client.write("ssh_known_hosts", f"[{server.address}]:{OWN_PORT} {host_key}\n")
        options = ["IdentitiesOnly=yes", f'UserKnownHostsFile="{known_hosts}"', "StrictHostKeyChecking=yes"]
        return ["-F", "none", "-p", str(OWN_PORT), "-i", key, *(word for option in options for word in ("-o", option))]


def _public_key(side: Side, path: str) -> str:
    """The public key of a key file, made where there is none. Each host gets to read what the other one says here."""
    said = side.host.shell(MAKE_KEY, path).stdout
    found = re.match(r"ssh-ed25519 [A-Za-z0-9+/]+=*(?=[ \n])", said)
    if not found:
        raise LabFailure(f"{side.host.role}: {path}.pub is no public key: {first_line(said)!r}")
    return found[0]


def parse_verbose(text: str) -> dict[str, Any]:
    """Server version and cipher from what ``ssh -v`` says."""
    version = re.search(r"remote software version ([!-~]{1,100})", text)
    cipher = re.search(r"kex: server->client cipher: ([!-~]{1,100})", text)
    found = {"dialect": version[1] if version else None, "cipher": cipher[1] if cipher else None}
    return {name: value for name, value in found.items() if value}


PROTOCOL = Protocol("ssh", PORT, mounted=False, dialects={"linux": UnixSsh, "macos": UnixSsh})
