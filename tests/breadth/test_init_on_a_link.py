"""`lab init` on one host of a local lab, whose other host has a share and advertises it by DNS-SD."""

import re
import sys
from pathlib import Path

from support.advertiser import advertised
from support.local_lab import Bench
from support.other_servers import other_samba
from support.paths import ROOT
from support.terminal import terminal

from lab.base.present import present
from lab.hosts.hosts_file import load_hosts
from lab.local import state
from lab.local.state import ADDRESS

TYPED = {
    "mounts the share": "", "has the share": "", "can log in": "nobody", "Which share": "media", "Which account": "lab",
}  # fmt: skip


def test_a_server_on_the_link_is_found_and_its_share_written_into_a_hosts_file(bench: Bench, tmp_path: Path) -> None:
    lab = present(state.load(bench.name))
    inside = ["nsenter", "--target", str(lab.hosts["client"].pid), "--net", "bash", "--norc", "--noprofile"]
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)} | bench.environment
    answers = {re.compile(rf"{question}[^>]*> \Z"): answer for question, answer in TYPED.items()}
    with (
        other_samba(bench, "media"),
        advertised(lab.hosts["server"].pid, ADDRESS["server"]),
        terminal(inside, tmp_path, environment, answers) as typed,
    ):
        code, screen = typed.type(f"{sys.executable} -m lab init")
    assert code in (0, 1), screen  # `lab check` may find that this machine lacks programs
    assert "Traceback" not in screen
    assert "ok       client address: " in screen
    assert f"2) Big NAS: nas.local, {ADDRESS['server']} by eth0: SMB, SSH\n" in screen
    assert "203.0.113.7" not in screen
    assert "its SSH answers" in screen
    assert f"  lab measure smb://lab@{ADDRESS['server']}/media\n" in screen
    hosts = load_hosts(tmp_path / "hosts.ini")
    assert (hosts.client.transport, hosts.client.data_address) == ("local", ADDRESS["client"])
    assert (hosts.server.host, hosts.server.data_address) == (None, ADDRESS["server"])
