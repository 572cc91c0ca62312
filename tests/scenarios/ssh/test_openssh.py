"""The transport openssh: hosts that know only SHA-1, and a control master that outlives nothing."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sshd import OLD, Sshd, gone, refused, running, works
from support.waiting import wait_until

from lab.base.errors import BadInput, HostError, HostKeyError, HostLost
from lab.base.present import present
from lab.check import doctor
from lab.hosts.openssh import COMMON, SESSION, OpenSshConnection
from lab.hosts.ssh import SshHost

no_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
pytestmark = [no_ssh, pytest.mark.usefixtures("home")]
ALGORITHMS = "ssh-rsa diffie-hellman-group14-sha1"
HOSTS = """
[client]
host = 127.0.0.1
port = {port}
user = {user}
identity = {folder}/plain
known_hosts = {folder}/known_hosts
data_address = 192.0.2.1
sudo = none
[server]
host = 127.0.0.1
port = 1
data_address = 192.0.2.2
[share]
account = me
"""


@pytest.fixture(scope="module")
def old_mac(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An sshd with even fewer algorithms than an old Mac has."""
    with running(tmp_path_factory.mktemp("old"), OLD, "rsa") as server:
        yield server


@pytest.fixture(scope="module")
def younger_mac(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An sshd whose key exchange paramiko accepts."""
    with running(tmp_path_factory.mktemp("younger"), "HostKeyAlgorithms ssh-rsa\n", "rsa") as server:
        yield server


@pytest.fixture(scope="module")
def sshd(one_sshd: Sshd) -> Sshd:
    return one_sshd


def connected(sshd: Sshd) -> tuple[SshHost, OpenSshConnection]:
    host = SshHost("client", sshd.config(transport="openssh"))
    assert isinstance(host.connection, OpenSshConnection)
    return host, host.connection


def too_old_for_paramiko(sshd: Sshd) -> str:
    """The message about this sshd; paramiko leaves a timer running for a while."""
    with pytest.raises(HostError) as caught:
        SshHost("client", sshd.config())
    return str(caught.value)


def test_what_is_advised_for_a_host_that_paramiko_cannot_reach_reaches_it(old_mac: Sshd) -> None:
    message = too_old_for_paramiko(old_mac)
    begin = "its SSH is old: Incompatible ssh peer (no acceptable "
    assert message.startswith(f"client: {old_mac.user}@127.0.0.1: {begin}")
    advised = present(re.search(r"give transport = (\w+) and ssh_algorithms = (.*) in \[client\]$", message))
    assert works(old_mac.config(transport=advised[1], ssh_algorithms=advised[2]))


def test_a_host_that_lacks_only_a_host_key_is_advised_no_more(younger_mac: Sshd) -> None:
    assert "give transport = openssh and ssh_algorithms = ssh-rsa in [client]" in too_old_for_paramiko(younger_mac)
    assert works(younger_mac.config(transport="openssh", ssh_algorithms="ssh-rsa"))


def test_the_check_says_it_in_one_line(old_mac: Sshd, home: Path) -> None:
    path = home / "hosts.ini"
    path.write_text(HOSTS.format(port=old_mac.port, user=old_mac.user, folder=old_mac.folder))
    findings, _ = doctor.check(path)
    finding = next(finding for finding in findings if finding.subject == "client SSH")
    assert (finding.level, ": its SSH is old: " in finding.message) == ("problem", True)
    assert finding.remedy == f"give transport = openssh and ssh_algorithms = {ALGORITHMS} in {path}: [client]"


@pytest.mark.parametrize(
    ("algorithms", "offer"),
    [("", "diffie-hellman-group14-sha1,diffie-hellman-group-exchange-sha1"), (ALGORITHMS.split()[1], "ssh-rsa")],
)
def test_what_an_old_host_offers_is_said(old_mac: Sshd, algorithms: str, offer: str) -> None:
    message = refused(old_mac.config(transport="openssh", ssh_algorithms=algorithms))
    message = message.replace(",ext-info-s", "").replace(",kex-strict-s-v00@openssh.com", "")
    assert f"Their offer: {offer}: give what it offers" in message
    assert message.endswith("as ssh_algorithms in [client]")


def test_the_key_of_an_old_host_is_accepted_by_the_command_that_is_shown(old_mac: Sshd, home: Path) -> None:
    known = home / "known"
    config = old_mac.config(transport="openssh", ssh_algorithms=ALGORITHMS, known_hosts=str(known))
    message = refused(config, HostKeyError)
    assert "unknown host key: ssh-rsa SHA256:" in message
    assert "`ssh-keygen -lf /etc/ssh/ssh_host_rsa_key.pub`" in message
    assert "(an old Mac: /etc/ssh_host_rsa_key.pub, and by MD5" in message
    accept = message.rpartition("accept it with: ")[2]
    assert "-o HostKeyAlgorithms=+ssh-rsa" in accept
    by_hand = accept.replace("ssh ", f"ssh -o StrictHostKeyChecking=accept-new -i {old_mac.folder}/plain ", 1)
    subprocess.run([*by_hand.split(), "true"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert works(config)


def test_an_old_host_that_refuses_a_key_is_said_to_take_rsa_alone(old_mac: Sshd) -> None:
    message = refused(old_mac.config("stranger", transport="openssh", ssh_algorithms=ALGORITHMS))
    assert message.endswith("(`ssh-add`); a host that signs with ssh-rsa only takes RSA keys")


def test_algorithms_of_ssh_config_count_too(old_mac: Sshd, home: Path) -> None:
    (home / ".ssh" / "config").write_text(
        "Host 127.0.0.1\n  HostKeyAlgorithms +ssh-rsa\n  PubkeyAcceptedAlgorithms +ssh-rsa\n"
        "  KexAlgorithms +diffie-hellman-group14-sha1\n"
    )
    assert works(old_mac.config(transport="openssh"))


def test_an_algorithm_that_ssh_does_not_know_is_quoted(sshd: Sshd) -> None:
    assert "ssh-cray" in refused(sshd.config(transport="openssh", ssh_algorithms="ssh-cray"))


def test_files_may_have_any_name(sshd: Sshd, home: Path) -> None:
    names = {"identity": home / '100 %h "key"', "known_hosts": home / "it's ~ %d known"}
    for source, path in zip(("plain", "known_hosts"), names.values(), strict=True):
        path.touch(0o600)
        path.write_bytes((sshd.folder / source).read_bytes())
    assert works(sshd.config(transport="openssh", **{key: str(path) for key, path in names.items()}))


def test_a_key_that_others_can_read_is_said(sshd: Sshd, home: Path) -> None:
    (home / "key").write_bytes((sshd.folder / "plain").read_bytes())
    (home / "key").chmod(0o644)
    assert "are too open" in refused(sshd.config(transport="openssh", identity=str(home / "key")))


def test_a_controller_without_ssh_says_so(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    message = refused(sshd.config(transport="openssh"), BadInput)
    assert message == "[client] transport = openssh: there is no ssh here: install openssh-client"


def test_a_closed_connection_leaves_nothing(sshd: Sshd) -> None:
    host, connection = connected(sshd)
    assert connection.folder.stat().st_mode & 0o777 == 0o700
    host.close()
    assert not connection.is_active
    assert not connection.folder.exists()
    with pytest.raises(HostLost, match=r"client: the connection to 127\.0\.0\.1 was lost$"):
        host.run("true")


def test_without_its_master_a_command_is_lost(sshd: Sshd) -> None:
    host, connection = connected(sshd)
    (connection.folder / "control").unlink()
    with pytest.raises(HostLost, match="was lost during echo"):
        host.run("echo", "hello")
    host.close()


@pytest.mark.parametrize(("words", "code"), [(SESSION, 255), (COMMON, 0)])
def test_a_session_makes_no_connection_of_its_own(sshd: Sshd, words: tuple[str, ...], code: int) -> None:
    """ssh would connect by itself if there is no master."""
    known = f"UserKnownHostsFile={sshd.folder}/known_hosts"
    options = ["-S", f"{sshd.folder}/no-master", "-p", str(sshd.port), "-i", f"{sshd.folder}/plain", "-o", known]
    command = [*words, *options, "--", f"{sshd.user}@127.0.0.1", "true"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == code


KILLED = """
import sys
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
host = SshHost("client", HostConfig.model_validate_json(sys.argv[1]))
print(host.connection._master.pid, host.connection.folder, flush=True)
host.shell('echo > "$1"; sleep 100', sys.argv[2])
"""


def test_a_controller_that_is_killed_takes_its_master_along(sshd: Sshd, home: Path) -> None:
    config, began = sshd.config(transport="openssh").model_dump_json(), home / "began"
    command = [sys.executable, "-c", KILLED, config, str(began)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as controller:
        master, folder = present(controller.stdout).readline().split()
        wait_until(began.exists)
        controller.send_signal(signal.SIGKILL)
    assert gone(master)
    wait_until(lambda: not Path(folder).exists())
    assert not Path(folder).exists()
