"""Connecting with ~/.ssh/config, against a real sshd: it is honoured, and what is wrong in it is named."""

from pathlib import Path

import pytest
from support.ssh_config import nas, relay, ssh_config, write_config
from support.sshd import Sshd, refused, works

from lab.base.errors import BadInput

pytestmark = pytest.mark.usefixtures("home", "proxies")


def test_ssh_config_is_honoured(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd))
    assert works(nas(sshd))


def test_the_home_folder_has_the_usual_files(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd, IdentityFile="", UserKnownHostsFile=""))
    for source, target in (("plain", "id_ed25519"), ("known_hosts", "known_hosts")):
        (home / ".ssh" / target).touch(0o600)
        (home / ".ssh" / target).write_bytes((sshd.folder / source).read_bytes())
    assert works(nas(sshd))


def test_ssh_config_may_name_keys_that_do_not_exist(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd) + "    IdentityFile ~/.ssh/id_of_another_machine\n")
    assert works(nas(sshd))


def test_the_hosts_file_wins_over_ssh_config(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd, Port="1", User="nobody-here", IdentityFile="/no", ProxyCommand="false"))
    (home / "known").write_bytes((sshd.folder / "known_hosts").read_bytes())
    assert works(sshd.config(host="nas", proxy_command=relay(sshd), known_hosts=str(home / "known")))


@pytest.mark.parametrize(
    "text",
    [
        "Host nas\n    Port not-a-number\n", "Host nas\n    Port\n", "Match\n", "\xff\xfe",
        "Host nas\n    Port 99999\n", "Host nas\n    Port 0\n", "Host nas\n    Port 2_2\n",
        "Host nas\n    ProxyCommand a\0b\n", "CanonicalizeHostname yes\n",
    ],
)  # fmt: skip
def test_a_broken_ssh_config_is_named(sshd: Sshd, home: Path, text: str) -> None:
    (home / ".ssh" / "config").write_bytes(text.encode("latin-1"))
    assert f"{home}/.ssh/config: cannot be read: " in refused(nas(sshd), BadInput)


def test_a_port_that_is_none_is_named(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd, Port="99999"))
    assert "cannot be read: Port 99999 is not a port from 1 to 65535" in refused(nas(sshd), BadInput)
