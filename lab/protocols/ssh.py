"""rsync over SSH: no mount. A share served by the lab gets an sshd of its own, with keys made for the run."""

import re
import shlex
from collections.abc import Generator
from types import MappingProxyType

from lab.base.addresses import for_command
from lab.base.errors import CommandError, LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.protocols.driver import Attached, Driver, Protocol, Share, Side, Steps
from lab.settings.background import background_process
from lab.settings.operation import Setting
from lab.settings.tcp_reach import SYSTEM

PORT = 22
OWN_PORT = 22022
SERVER_ALIAS = "file-share-lab-server"  # in place of its address, which ssh may write in another way
# Each end probes the other after 5 s of silence, and ends after three probes without an answer
NOTICE = ("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
SSHD_CONFIG = """\
Port {port}
ListenAddress {address}
AuthorizedKeysFile "{state}/authorized_keys"
StrictModes no
PermitRootLogin without-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
PidFile none
ClientAliveInterval 5
ClientAliveCountMax 3
"""
# For clients before OpenSSH 6.5 at a newer server; an sshd before 7.0 offers these anyway, and knows no plus sign
FOR_OLD_CLIENTS = """\
HostKeyAlgorithms +ssh-rsa
PubkeyAcceptedKeyTypes +ssh-rsa
KexAlgorithms +diffie-hellman-group-exchange-sha256
"""
# For newer clients at an old server; a client before 7.0 offers RSA by itself, and lacks PubkeyAcceptedKeyTypes
FOR_OLD_SERVERS = (
    "HostKeyAlgorithms=ssh-rsa",
    "IgnoreUnknown=PubkeyAcceptedKeyTypes",
    "PubkeyAcceptedKeyTypes=ssh-rsa",
)
# Add lines to an existing file; the lines of other clients stay
ADD_LINES = 'while read -r line; do grep -qxF -- "$line" "$1" || printf "%s\\n" "$line" >> "$1"; done'
MAKE_KEYS = read_script(__file__, "ssh_make_keys.sh")
KEY = re.compile(r"^(ssh-(ed25519|rsa) [A-Za-z0-9+/]+=*)(?: .*)?$", re.MULTILINE)


class UnixSsh(Driver):
    """OpenSSH, which is the same on every platform."""

    serves_with = MappingProxyType({"sshd": "openssh-server", "ssh-keygen": "openssh-client"})
    attaches_with = MappingProxyType({"ssh": "openssh-client"})
    client_tcp_reach = server_tcp_reach = MappingProxyType({(10, 6): SYSTEM})  # of macOS; from the source of OpenSSH

    def serve(self, server: Side, share: Share) -> Steps:
        """A second sshd: its sockets are made after the TCP buffers are set, and no account's keys are touched."""
        state = f"{server.directory}/ssh"
        server.host.run("mkdir", "-m", "700", "-p", state)
        keys = _public_keys(server, f"{state}/host_key")
        server.write("ssh/authorized_keys", "")
        text = SSHD_CONFIG.format(port=OWN_PORT, address=server.address, state=state)
        text += "".join(f'HostKey "{state}/host_key_{kind}"\n' for kind in keys)
        # sshd insists on being called by its full path
        program = server.host.shell("command -v sshd").stdout.strip()
        config = server.write("ssh/sshd_config", text + FOR_OLD_CLIENTS)
        if server.host.run(program, "-t", "-f", config, check=False).exit_code != 0:
            config = server.write("ssh/sshd_config", text)
        argv = (program, "-D", "-e", "-f", config)
        yield background_process(server.host.name, "sshd", argv, state, server.listening(OWN_PORT), root=False)

    def mount_method(self, client: Side) -> str:
        return "rsync over ssh, no mount"

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """The command that leads to the server; proven by logging in once."""
        ssh = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", *NOTICE]
        login, target = f"{server.user}@{server.address}", f"{server.user}@{for_command(server.address)}"
        if share.served_by_lab:
            ssh += self._own_keys(client, server)
        elif server.ssh_name:
            login = target = server.ssh_name
        yield from ()
        result = client.host.run(*ssh, "-v", "--", login, "true", check=False)
        if result.exit_code != 0:
            output = "\n".join(line for line in result.output.splitlines() if not line.startswith("debug1: "))
            raise CommandError(client.host.name, result.argv, result.exit_code, output)
        effective = {"mount": "none", **parse_verbose(result.stderr)}
        return Attached(f"{target}:{share.path}", remote_shell=shlex.join(ssh), effective=effective)

    def _own_keys(self, client: Side, server: Side) -> list[str]:
        key, known_hosts = f"{client.directory}/ssh_key", f"{client.directory}/ssh_known_hosts"
        client_keys, server_keys = _public_keys(client, key), _public_keys(server, f"{server.directory}/ssh/host_key")
        lines = "".join(f"{line}\n" for line in client_keys.values())
        server.host.shell(ADD_LINES, f"{server.directory}/ssh/authorized_keys", given=lines)
        known = "".join(f"{SERVER_ALIAS} {line}\n" for line in server_keys.values())
        client.write("ssh_known_hosts", known)
        options = [
            f"HostKeyAlias={SERVER_ALIAS}",
            "IdentitiesOnly=yes",
            f'UserKnownHostsFile="{known_hosts}"',
            "StrictHostKeyChecking=yes",
        ]
        if "ed25519" in client_keys and "ed25519" not in server_keys:
            options += FOR_OLD_SERVERS
        settings = [word for option in options for word in ("-o", option)]
        identities = [word for kind in client_keys for word in ("-i", f"{key}_{kind}")]
        return ["-F", "/dev/null", "-p", str(OWN_PORT), *identities, *settings]


def _public_keys(side: Side, path: str) -> dict[str, str]:
    """A host's public keys by kind, the best first, made if missing. Raises LabFailure for anything else."""
    output = side.host.shell(MAKE_KEYS, path).stdout
    keys = {kind: line for line, kind in KEY.findall(output)}
    if not keys:
        raise LabFailure(f"{path}_*.pub is no public key: {first_line(output)!r}", host=side.host.name)
    return keys


def parse_verbose(text: str) -> dict[str, str]:
    """Server version and cipher, from what ``ssh -v`` prints."""
    version = re.search(r"remote software version ([!-~]{1,100})", text)
    cipher = re.search(r"kex: server->client cipher: ([!-~]{1,100})", text)
    matches = {"dialect": version, "cipher": cipher}
    return {name: match[1] for name, match in matches.items() if match}


PROTOCOL = Protocol(
    "ssh", PORT, mounted=False, drivers={"linux": UnixSsh, "macos": UnixSsh}, takes_password=False,
    least_file_bytes=3,  # of a name in rsync's list: flags, length, one letter (rsync's flist.c, send_file_entry)
)  # fmt: skip
