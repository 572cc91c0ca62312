"""What `lab run` refuses before it reaches a host, `lab plan --hosts` refuses too: the same message, exit code 2."""

import os
from pathlib import Path

import pytest
from support.input_files import SWEEP
from support.open_runs import RunLab

from lab.hosts import passwords

HOSTS = """\
[client]
host = 127.0.0.1
port = 1
data_address = 192.0.2.1
[server]
host = 127.0.0.1
port = 1
data_address = 192.0.2.2
tune = yes
[share]
path = /srv
account = lab
password = env:LAB_PASSWORD
"""
DISK = SWEEP + 'store = ["disk"]\n'


@pytest.fixture(autouse=True)
def _in_an_empty_folder(empty_place: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LAB_PASSWORD", "secret")


def refusals(run_lab: RunLab, hosts: str, sweep: str) -> str:
    """What `lab plan` and `lab run` say, which is the same, and that no run folder was made."""
    Path("hosts.ini").write_text(hosts)
    Path("a.toml").write_text(sweep)
    planned = run_lab("plan", "a.toml", "--hosts", "hosts.ini")
    assert run_lab("run", "a.toml", "--hosts", "hosts.ini") == planned
    code, out, err = planned
    assert (code, out) == (2, "")
    assert not list(Path().glob("results/*"))
    return err


def test_files_that_fit_are_planned_and_only_the_run_finds_nobody(run_lab: RunLab) -> None:
    Path("hosts.ini").write_text(HOSTS)
    Path("a.toml").write_text(DISK)
    assert run_lab("plan", "a.toml", "--hosts", "hosts.ini")[0] == 0
    code, _, err = run_lab("run", "a.toml")
    assert (code, "client: 127.0.0.1: cannot be reached on port 1" in err) == (1, True), err


@pytest.mark.parametrize(
    ("of", "instead", "sweep", "message"),
    [
        ("env:LAB_PASSWORD", "env:NO_SUCH", DISK, "[share] password = env:NO_SUCH: no password of lab: the env"),
        ("env:LAB_PASSWORD", "file:none", DISK, "none cannot be read: No such file or directory"),
        ("env:LAB_PASSWORD", "file:open", DISK, "open can be read by others: `chmod 600 open`"),
        ("port = 1\n", "port = 1\nsudo = password\nsudo_password = env:NO_SUCH\n", DISK, "[client] sudo_password"),
        ("port = 1\n", "port = 1\nidentity = ~/.ssh/none\n", DISK, "[client] identity: there is no key ~/.ssh/none"),
        ("port = 1\n", "port = 1\nknown_hosts = wrong\n", DISK, "wrong: not a file of known hosts"),
        ("tune = yes", "tune = no", DISK + "mtu = [1500, 9000]\n", "the sweep wants 2 MTUs of it"),
        ("tune = yes", "tune = no", DISK + 'tcp_space = ["default", "64 KiB"]\n', "the sweep wants TCP buffers"),
        ("path", "path", DISK + 'server_sync = ["default", "async"]\n', "server_sync = async: the lab changes nothing"),
        ("path", "path", SWEEP + 'store = ["ram"]\n', "[share] serve = existing: the lab cannot choose"),
        ("port = 1\n", "port = 1\nram_disk = 1 MiB\n", DISK, "[client] ram_disk: 1048576 bytes cannot hold"),
        ("port = 1\n", "port = 1\nram_disk_format = zfs\n", DISK, "[client] ram_disk_format: Input should be"),
    ],
)  # fmt: skip
def test_both_refuse_it_alike(run_lab: RunLab, of: str, instead: str, sweep: str, message: str) -> None:
    Path("open").write_text("secret")
    Path("open").chmod(0o644)
    Path("wrong").write_bytes(b"nas ssh-ed25519 AAAA\n|1|x\xff\n")
    assert message in refusals(run_lab, HOSTS.replace(of, instead, 1), sweep)


def test_a_machine_without_ssh_cannot_have_that_transport(run_lab: RunLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/no/such/folder")
    err = refusals(run_lab, HOSTS.replace("port = 1\n", "port = 1\ntransport = openssh\n", 1), DISK)
    assert err == "hosts.ini: [client] transport = openssh: there is no ssh here\ninstall openssh-client\n"


def test_settings_of_ssh_that_cannot_be_read(run_lab: RunLab) -> None:
    Path(".ssh").mkdir()
    Path(".ssh/config").write_text("Host *\n  Port none\n")
    assert "/.ssh/config: cannot be read: Port none" in refusals(run_lab, HOSTS, DISK)


def test_a_hosts_file_among_results(run_lab: RunLab) -> None:
    Path("results/x").mkdir(parents=True)
    Path("results/x/run.json").write_text("{}")
    Path("results/x/hosts.ini").write_text(HOSTS)
    Path("a.toml").write_text(DISK)
    ((code, _, err),) = {run_lab(name, "a.toml", "--hosts", "results/x/hosts.ini") for name in ("plan", "run")}
    assert (code, "among results" in err) == (2, True), err


@pytest.mark.parametrize("is_file", [True, False])
def test_results_that_cannot_be_kept(run_lab: RunLab, tmp_path: Path, is_file: bool) -> None:
    if is_file:
        Path("results").write_text("")
    else:
        Path("results").symlink_to("/proc/no/such/folder")
    assert f"{tmp_path}/results: not a folder" in refusals(run_lab, HOSTS, DISK)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_takes_no_results(run_lab: RunLab) -> None:
    Path("results").mkdir(mode=0o500)
    assert "not writable" in refusals(run_lab, HOSTS, DISK)


def test_nobody_is_asked_for_a_password_by_a_plan(run_lab: RunLab, monkeypatch: pytest.MonkeyPatch) -> None:
    for source in ("_prompt", "_keyring"):
        monkeypatch.setattr(passwords, source, lambda *_: pytest.fail("asked"))
    Path("a.toml").write_text(DISK)
    for source in ("prompt", "keyring:nas"):
        Path("hosts.ini").write_text(HOSTS.replace("env:LAB_PASSWORD", source))
        assert run_lab("plan", "a.toml", "--hosts", "hosts.ini")[0] == 0
