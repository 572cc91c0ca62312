"""The check on the controller's files: who may write the hosts file, and passwords that a run will not get."""

import os
from pathlib import Path

import pytest
from support.input_files import HOSTS, write_hosts

from lab.check import files
from lab.check.finding import Finding
from lab.hosts.hosts_file import load_hosts


@pytest.fixture
def hosts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_PASSWORD", "x")
    return write_hosts(tmp_path)


def of_files(path: Path) -> list[Finding]:
    return list(files.findings(load_hosts(path), path))


def test_a_hosts_file_that_others_can_write_is_warned_of(hosts_file: Path) -> None:
    assert [finding.level for finding in of_files(hosts_file)] == ["ok"]
    hosts_file.chmod(0o606)
    warned = of_files(hosts_file)[0]
    assert (warned.level, warned.remedy) == ("warning", f"`chmod o-w {hosts_file}`")
    assert "proxy_command" in warned.message
    hosts_file.chmod(0o600)
    hosts_file.parent.chmod(0o707)
    assert of_files(hosts_file)[0].remedy == f"`chmod o-w {hosts_file.parent}`"
    hosts_file.parent.chmod(0o1707)  # as /tmp: nobody can replace another's file there
    assert [finding.level for finding in of_files(hosts_file)] == ["ok"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_hosts_file_of_another_user_is_warned_of(hosts_file: Path) -> None:
    os.chown(hosts_file, 12345, -1)
    warned = of_files(hosts_file)[0]
    assert (warned.level, warned.remedy) == ("warning", f"`sudo chown 0 {hosts_file}`")


def test_a_password_that_a_run_will_not_get_is_a_problem(hosts_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_PASSWORD")
    (finding,) = of_files(hosts_file)
    assert (finding.level, "LAB_PASSWORD is not set" in finding.message) == ("problem", True)
    secret = hosts_file.parent / "secret"
    secret.write_text("hunter2")
    secret.chmod(0o644)
    hosts_file.write_text(HOSTS.replace("env:LAB_PASSWORD", f"file:{secret}"))
    (finding,) = of_files(hosts_file)
    assert (finding.level, f"chmod 600 {secret}" in finding.message + finding.remedy) == ("problem", True)
    hosts_file.write_text(HOSTS.replace("env:LAB_PASSWORD", "prompt"))
    assert [finding.level for finding in of_files(hosts_file)] == ["ok"]
