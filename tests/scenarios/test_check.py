"""`lab check` on real hosts that were broken for the test."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench
from support.local_lab import check_findings as findings
from support.local_lab import findings_at as of
from support.local_lab import only_finding as only

from lab.base.present import present

Expected = list[tuple[str, str, str]]
JUMBO = ("ip link set eth0 mtu 9000", "ip link set eth0 mtu 1500")  # turns jumbo frames on, and off again


@pytest.fixture(scope="module")
def broken(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench()


@contextmanager
def running(bench: Bench, host: str, *argv: str) -> Iterator[subprocess.Popen[str]]:
    """A command inside a host that prints a line when it is ready, and runs until its input ends."""
    command = bench.command("local", "exec", "--name", bench.name, host, "--", *argv)
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=bench.directory, text=True, **pipes) as process:
        assert present(process.stdout).readline() == "ready\n"
        yield process


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"server_data_address": "10.99.0.9", "server_interface": "eth0"}, [
            ("server address", "10.99.0.9 is on no interface of it: it has eth0 10.99.0.2", "correct data_address"),
        ]),
        ({"client_data_address": "10.99.0.2", "server_data_address": "10.55.0.9"}, [
            ("server system", "10.99.0.2 is an address of this host itself", "is data_address 10.99.0.2"),
            ("client system", "no route leads to 10.55.0.9", "is data_address 10.55.0.9 of the other host right?"),
        ]),
        ({"client_interface": "eth7", "server_interface": "lo", "client_ram_disk": "4096 GiB"}, [
            ("client address", "there is no interface eth7; there are eth0, lo", "correct interface in [client]"),
            ("server address", "leave by eth0, while interface = lo: MTU and", "interface as the one that"),
            ("client memory", "it does not fit", "give ram_disk ="),
            ("server memory", "in the same memory", "in [server]"),
        ]),
        ({"client_user": "lab", "server_user": "lab", "server_sudo": "nopasswd", "client_mount_base": "/nowhere",
          "share_password": "env:NO_SUCH_VARIABLE", "server_ram_disk_format": "ext4"}, [
            ("server memory", "ram_disk_format = ext4: its kernel has ", ""),
            ("client sudo", "sudo = none, and lab is not root", "give sudo = nopasswd or password in [client]"),
            ("server sudo", "sudo: a password is required", "in it `lab ALL=(root) NOPASSWD: ALL`"),
            ("client folder", "mount_base = /nowhere: there is no such folder", "make it there"),
            ("share password", "NO_SUCH_VARIABLE is not set", ""),
        ]),
    ],
    ids=["address", "addresses", "interfaces and memory", "accounts and folders"],
)  # fmt: skip
def test_a_hosts_file_that_does_not_fit_the_hosts(broken: Bench, changes: dict[str, str], expected: Expected) -> None:
    found = findings(broken, broken.changed_hosts(**changes))
    for subject, message, remedy in expected:
        (problem,) = [entry for entry in found if entry["level"] == "problem" and entry["subject"] == subject]
        assert message in problem["message"]
        assert remedy in problem["remedy"]


def test_a_wrong_password_is_tried_once(broken: Bench, tmp_path: Path) -> None:
    """Some systems lock an account after three wrong passwords."""
    wrong = tmp_path / "password"
    wrong.touch(0o600)
    wrong.write_text("wrong")
    account = {"client_user": "lab", "client_sudo": "password", "client_sudo_password": f"file:{wrong}"}
    found = findings(broken, broken.changed_hosts(**account))
    problem = only(found, "problem")
    assert problem["message"].endswith("1 incorrect password attempt")
    assert "sudo_password in [client]" in problem["remedy"]
    cannot = [subject for subject, message in of(found, "warning") if message == "client: cannot mount without root"]
    assert cannot == ["afp", "nfs", "smb"]


def test_a_host_that_is_down_leaves_the_other_to_be_looked_at(broken: Bench) -> None:
    found = findings(broken, broken.changed_hosts(client_proxy_command="echo gone >&2; false"))
    problem = only(found, "problem")
    assert problem["subject"] == "client SSH"
    assert "cannot be reached on port 22: gone" in problem["message"]
    assert problem["remedy"].startswith("is it on")
    assert ("link", "only the server could be looked at: what needs both is left out") in of(found, "note")
    well = dict(of(found, "ok"))
    assert well["server sudo"] == "logged in as root"
    assert well["smb"] == "server: served by smbd"


def test_both_hosts_down(broken: Bench) -> None:
    changes = {"client_proxy_command": "false", "server_proxy_command": "false", "server_iperf3": None}
    found = findings(broken, broken.changed_hosts(**changes))
    assert [subject for subject, _ in of(found, "problem")] == ["client SSH", "server SSH"]
    assert [subject for subject, _ in of(found, "note")] == ["link"]


def test_a_key_that_is_refused(broken: Bench, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    problem = only(findings(broken, broken.changed_hosts(server_identity=str(key))), "problem")
    assert problem["subject"] == "server SSH"
    assert "SSH refused the login" in problem["message"]
    assert "ssh-copy-id" in problem["remedy"]


def test_programs_that_are_missing(broken: Bench) -> None:
    on_client = ("/usr/bin/perl", "/usr/bin/rsync", "/usr/libexec/gvfsd-fuse")
    with broken.missing("client", *on_client), broken.missing("server", "/usr/bin/iperf3", "/usr/sbin/smbd"):
        found = findings(broken, broken.with_ceilings())
    remedies = {(finding["level"], finding["subject"], finding["message"]): finding["remedy"] for finding in found}
    useless = "nothing can be measured without it"
    assert remedies["problem", "client programs", f"perl is missing: {useless}"] == "`apt-get install perl` there"
    assert remedies["problem", "server programs", f"iperf3 is missing: {useless}"] == "`apt-get install iperf3` there"
    assert remedies["warning", "smb", "server: cannot serve it without smbd"] == "`apt-get install samba` there"
    rsync = "rsync is missing: out is rsync, rsync-metadata"
    assert remedies["warning", "client programs", rsync] == "`apt-get install rsync` there"
    assert {finding["subject"] for finding in found if "gvfs-fuse" in finding["remedy"]} == {"afp", "nfs", "smb"}
    assert not [message for _, message in of(found, "warning") if "could not be looked at" in message]


def test_an_mtu_that_differs(broken: Bench) -> None:
    with broken.changed("client", *JUMBO):
        found = findings(broken)
    message = "the client's is 9000, the server's 1500: large packets may get lost one way"
    assert ("link MTU", message) in of(found, "warning")


def test_jumbo_frames_that_are_on_already_are_proven(broken: Bench) -> None:
    with broken.changed("server", *JUMBO), broken.changed("client", *JUMBO):
        found = findings(broken)
        assert ("link path", "packets of MTU 9000 cross it in one piece, and back") in of(found, "ok")
        assert not [subject for subject, _ in of(found, "note") if subject.startswith("link")]
        narrow = "ip route change 10.99.0.0/24 dev eth0 mtu lock 1400"  # like a switch that carries no more
        with broken.changed("client", narrow, "ip route change 10.99.0.0/24 dev eth0 src 10.99.0.1"):
            problem = only(findings(broken), "problem")
    assert problem["message"].startswith("packets of MTU 9000 do not cross it, of 576 they do")
    assert "1500" in problem["remedy"]


def test_a_clock_that_is_off(broken: Bench) -> None:
    """The host shares the machine's clock, so its perl tells another time."""
    perl = '#!/bin/sh\\nexec /usr/bin/perl -e "print time - 90"\\n'
    slow = f"printf '{perl}' >/usr/local/bin/perl; chmod 755 /usr/local/bin/perl"
    with broken.changed("server", slow, "rm /usr/local/bin/perl"):
        found = findings(broken)
    (finding,) = [finding for finding in found if finding["subject"] == "server clock"]
    assert finding["level"] == "warning"
    behind, message = finding["message"].split(" ", 1)
    assert message == "s behind the controller's: times of files and of the report will contradict each other"
    assert 85 < float(behind) < 95


def test_a_backup_that_is_running(broken: Bench) -> None:
    copy = 'cp "$(command -v cat)" /tmp/restic; echo ready; exec /tmp/restic'
    with running(broken, "server", "sh", "-c", copy) as process:
        finding = only(findings(broken), "warning")
        process.communicate("")
    broken.inside("server", "rm /tmp/restic")
    assert (finding["subject"], finding["message"]) == ("server backups and indexers", "restic is running")


def test_a_server_in_the_way_of_the_labs_own_and_one_that_is_there(broken: Bench) -> None:
    listen = "use IO::Socket; $l = IO::Socket::INET->new(LocalPort => 445, Listen => 9, ReuseAddr => 1) or die; $| = 1;"
    with running(broken, "server", "perl", "-e", f'{listen} print "ready\\n"; <STDIN>') as process:
        finding = only(findings(broken), "warning")
        existing = findings(broken, broken.changed_hosts(share_serve="existing"))
        tuned = findings(broken, broken.changed_hosts(share_serve="existing", server_tune="yes"))
        process.communicate("")
    assert finding["message"] == "another server answers at 10.99.0.2 port 445, which the lab's own needs"
    assert [subject for subject, message in of(existing, "warning") if "nothing answers" in message] == ["afp", "nfs"]
    (message,) = [message for subject, message in of(existing, "note") if subject == "TCP buffers"]
    why = "the lab leaves that host as it is (tune in the hosts file)"
    assert message == f"tcp_space changes nothing for afp, nfs, smb, ssh on the server: {why}"
    (message,) = [message for subject, message in of(tuned, "note") if subject == "TCP buffers"]
    assert message.endswith(": a server that runs already keeps the sizes that its sockets were made with")
    assert "server memory" not in [finding["subject"] for finding in existing]  # the lab makes no RAM disk there


@pytest.mark.parametrize(("protocol", "port"), [("nfs", 2049), ("afp", 548)])
def test_a_port_that_is_taken_is_told_by_a_run_and_by_its_failed_trial(broken: Bench, protocol: str, port: int) -> None:
    listen = f"use IO::Socket; $l = IO::Socket::INET->new(LocalPort => {port}, Listen => 9, ReuseAddr => 1) or die;"
    before = broken.state()
    with running(broken, "server", "perl", "-e", f'{listen} $| = 1; print "ready\n"; <STDIN>') as process:
        done = broken.run(protocol=[protocol], tool=["cp"], direction=["write"])
        resumed = broken.lab("run", "--resume", str(broken.newest()))
        process.communicate("")
    warned = f"warning: {protocol}: another server answers at 10.99.0.2 port {port}, which the lab's own needs: stop it"
    assert [(which.returncode, warned in which.stderr) for which in (done, resumed)] == [(1, True), (1, True)]
    (trial,) = broken.trials()
    assert trial["reason"].startswith(f"server: port {port} is taken by another server: the lab's own did not work (")
    assert "\n" not in trial["reason"]
    assert trial["reason"].endswith("): stop it on the server, or measure it: [share] serve = existing")
    assert broken.state() == before


def test_a_share_whose_folder_is_not_there(broken: Bench) -> None:
    existing = findings(broken, broken.changed_hosts(share_serve="existing", share_path="/srv/no-such"))
    assert only(existing, "problem")["message"] == "[share] path = /srv/no-such: there is no such folder"
