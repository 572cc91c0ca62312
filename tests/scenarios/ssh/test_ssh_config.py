"""~/.ssh/config and proxies with a real sshd: both are honoured, and messages name what is wrong in them."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.sshd import ONLY_PARAMIKO, Sshd, refused, works
from support.sshd_fixtures import nas, relay, ssh_config, write_config

from lab.base.errors import BadInput, HostKeyError, HostLost
from lab.hosts import paramiko
from lab.hosts.ssh import SshHost

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


def test_a_proxy_may_lead_to_a_name_of_any_form(sshd: Sshd, home: Path) -> None:
    known = (sshd.folder / "known_hosts").read_text().replace("127.0.0.1", "my..nas")
    (home / "known").write_text(known)
    assert works(sshd.config(host="my..nas", proxy_command=relay(sshd), known_hosts=str(home / "known")))


@pytest.mark.parametrize("place", ["ssh_config", "hosts file"])
@pytest.mark.parametrize("port", ["22", "2222"])
def test_a_proxy_command_gets_host_and_port(sshd: Sshd, home: Path, port: str, place: str) -> None:
    """Nothing answers at the address: only the proxy leads there. The host key is on record under the address."""
    name = "192.0.2.7" if port == "22" else f"[192.0.2.7]:{port}"
    (home / "known").write_text(f"{name} {(sshd.folder / 'host_key.pub').read_text()}")
    proxy = f"echo %h %p > {home}/asked; exec {relay(sshd)}"
    script = home / "proxy"
    script.write_text(f"#!/bin/sh\n{proxy.replace('%h %p', '$1 $2')}\n")
    script.chmod(0o755)
    options = {"HostName": "192.0.2.7", "Port": port, "UserKnownHostsFile": f"{home}/known"}
    command = f"{script} %h %p"
    write_config(home, ssh_config(sshd, **options, **({"ProxyCommand": command} if place == "ssh_config" else {})))
    assert works(nas(sshd) if place == "ssh_config" else nas(sshd, proxy_command=command))
    assert (home / "asked").read_text() == f"192.0.2.7 {port}\n"


@pytest.mark.parametrize("none", ["none", "None"])
@pytest.mark.parametrize("way", ["ProxyCommand", "ProxyJump"])
def test_a_proxy_command_of_none_is_no_proxy(sshd: Sshd, home: Path, none: str, way: str) -> None:
    """As in ssh, `none` wins over ~/.ssh/config."""
    write_config(home, ssh_config(sshd, **{way: "false"}))
    assert works(nas(sshd, proxy_command=none))


def test_a_proxy_that_fails_is_quoted(sshd: Sshd) -> None:
    message = refused(sshd.config(proxy_command="sh -c 'echo the lab is not up >&2; exit 1'"))
    assert "cannot be reached" in message
    assert "the lab is not up" in message


@ONLY_PARAMIKO
def test_a_refusal_through_a_proxy_leaves_no_process(sshd: Sshd, home: Path, proxies: list[paramiko.Proxy]) -> None:
    refused(sshd.config("stranger", proxy_command=relay(sshd)))
    refused(sshd.config(known_hosts=str(home / "none"), proxy_command=relay(sshd)), HostKeyError)
    assert len(proxies) == 2


@ONLY_PARAMIKO
def test_a_proxy_that_was_killed_is_said(sshd: Sshd, proxies: list[paramiko.Proxy]) -> None:
    host = SshHost("client", sshd.config(proxy_command=relay(sshd)))
    proxies[0].process.kill()
    with pytest.raises(HostLost, match=r"was lost.*: its proxy_command was killed by signal 9$"):
        host.run("true")
    host.close()


@ONLY_PARAMIKO
def test_commands_that_are_lost_at_once_with_their_proxy_all_say_why(sshd: Sshd, proxies: list[paramiko.Proxy]) -> None:
    host, seconds = SshHost("client", sshd.config(proxy_command=relay(sshd))), f"50.{os.getpid()}"
    with ThreadPoolExecutor(4) as threads:
        sleeping = [threads.submit(host.run, "sleep", seconds) for _ in range(4)]
        while len(host.run("pgrep", "-f", f"^sleep {seconds}$", check=False).stdout.split()) < 4:
            time.sleep(0.01)
        proxies[0].process.kill()
        reasons = [str(command.exception()) for command in sleeping]
    lost = "was lost during sleep: its proxy_command was killed by signal 9"
    assert reasons == [f"client: the connection to {host.config.host} {lost}"] * 4
    host.close()


INTERRUPTED = """
import os, signal, sys, time
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
host = SshHost("client", HostConfig.model_validate_json(sys.argv[1]))
os.killpg(0, signal.SIGINT)  # as the terminal does at Ctrl-C
time.sleep(0.2)
print(host.run("echo", "put back").stdout, flush=True)
host.close()
"""


def test_a_proxy_survives_ctrl_c_so_that_things_can_be_put_back(sshd: Sshd) -> None:
    config = sshd.config(proxy_command=relay(sshd)).model_dump_json()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, config],
        capture_output=True, text=True, timeout=30, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.stdout.split("\n")[:2], done.stderr) == (["interrupted", "put back"], "")
