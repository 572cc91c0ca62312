"""What a test writes into ~/.ssh/config, and proxies that lead to its sshd."""

import sys
from pathlib import Path

from lab.hosts.host_config import HostConfig
from support.sshd import Sshd

# connects standard input and output to a port, and ends with either of them
RELAY = """
import os, select, socket, sys
end = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    for ready in select.select([0, end], [], [])[0]:
        data = os.read(0, 65536) if ready == 0 else end.recv(65536)
        if not data:
            sys.exit()
        end.sendall(data) if ready == 0 else os.write(1, data)
"""


def relay(sshd: Sshd, host: str = "127.0.0.1", port: str = "") -> str:
    script = sshd.folder / "relay.py"
    script.write_text(RELAY)
    return f"{sys.executable} {script} {host} {port or sshd.port}"


def write_config(home: Path, text: str) -> None:
    (home / ".ssh" / "config").write_text(text)


def ssh_config(sshd: Sshd, **changes: str) -> str:
    options = {
        "HostName": "127.0.0.1", "Port": str(sshd.port), "User": sshd.user,
        "IdentityFile": f"{sshd.folder}/plain", "UserKnownHostsFile": f"{sshd.folder}/known_hosts",
    }  # fmt: skip
    return "Host nas\n" + "".join(f"    {name} {value}\n" for name, value in (options | changes).items() if value)


def nas(sshd: Sshd, **changes: str) -> HostConfig:
    """A host of which ~/.ssh/config says the rest."""
    given = {"host": "nas", "data_address": "127.0.0.1", "sudo": "none", "transport": sshd.transport}
    return HostConfig.model_validate(given | changes)
