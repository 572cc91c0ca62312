"""What is said about emulated Macs: a closed protocol, a missing perl, Wi-Fi, and the file that an owner would send."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from support.local_lab import HOSTS, Bench

from lab.base.present import present
from lab.check.hardware_file import parse_shared
from lab.hosts.command import NO_PERL_ON_MAC
from lab.hosts.hosts_file import load_hosts

REMEDY = "Windows File Sharing"


def test_a_protocol_that_a_mac_does_not_serve_is_left_out_and_the_others_run(new_bench: Callable[..., Bench]) -> None:
    """The Mac's SMB knows no password of the account: NFS needs none, and the remedy is named everywhere."""
    macs = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@15.5")
    macs.check_output("local", "fault", "--name", macs.name, "server", "smb-no-hash")
    assert REMEDY in macs.refused_run(1, protocol=["smb"])
    assert macs.trials_if_any() == []
    done = macs.run(protocol=["smb", "nfs"])
    assert done.returncode == 1, done.stdout + done.stderr
    assert {(trial["protocol"], trial["status"]) for trial in macs.trials()} == {("nfs", "ok")}
    assert REMEDY in macs.run_json()["closed"]["smb"]
    assert done.stderr.count(REMEDY) == 2  # when it begins, and when it has ended
    assert "smb was left out: `lab show" in " ".join(macs.lab("show").stdout.split())
    assert REMEDY in macs.lab("show", "--full").stdout


def test_a_mac_without_perl_is_told_so_in_one_sentence(new_bench: Callable[..., Bench]) -> None:
    macs = new_bench("--platform", "client=macos@26", "--platform", "server=macos@15.5")
    for host in HOSTS:
        macs.inside(host, "rm /usr/bin/perl")
    report = json.loads(macs.lab("check", "--hosts", str(macs.hosts), "--json").stdout)
    problems = [finding for finding in report["findings"] if finding["level"] == "problem"]
    assert [finding["subject"] for finding in problems] == ["client programs", "server programs"]
    assert {finding["message"] for finding in problems} == {"perl is missing: nothing can be measured without it"}
    assert {finding["remedy"] for finding in problems} == {NO_PERL_ON_MAC}
    assert not [finding for finding in report["findings"] if "could not be looked at" in finding["message"]]
    assert NO_PERL_ON_MAC in macs.refused_run(1, mtu=[9000])
    message = macs.refusal(1, "host", "install", "--hosts", str(macs.hosts), "client")
    assert "the helper is a perl script, and there is no perl here" in message


RADIO = {"wifi_bits_per_s": 866_700_000, "wifi_signal_dbm": -54, "wifi_noise_dbm": -92}


def test_the_wifi_of_a_mac_is_recorded_and_named(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=linux")
    bench.check_output("local", "fault", "--name", bench.name, "client", "wifi")
    assert "it is wireless" in " ".join(bench.lab("check", "--hosts", str(bench.hosts)).stdout.split())
    trials = bench.measure(size="1 MiB")
    assert len(trials) == 2
    for trial in trials:
        assert {name: trial["observed"]["client"].get(name) for name in RADIO} == RADIO
        assert not set(trial["observed"]["server"]) & set(RADIO)
    shown = " ".join(bench.check_output("show").split())
    assert "the link of the client was Wi-Fi, 867 Mbit/s, −54 dBm" in shown
    assert "Wi-Fi" in bench.check_output("show", "--table", "counted")


def test_the_file_of_two_emulated_macs(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    macs = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@10.6")
    macs.execute("server", "/bin/sh", "-c", "mkdir -p /Users/jane/x && sharing -a /Users/jane/x -n HolidaysOfJane")
    file = tmp_path / "macs.txt"
    done = macs.lab("check", "--hosts", str(macs.hosts), "--hardware", "--share", str(file))
    assert str(file) in done.stderr
    text = file.read_text()
    config = load_hosts(macs.hosts)
    login_names = map(present, (config.client.host, config.server.host))
    names = (*login_names, config.client.data_address, config.server.data_address, macs.name)
    assert [name for name in (*names, "HolidaysOfJane", "jane") if name.casefold() in text.casefold()] == []
    output = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    # only dseditgroup prints the account of emulated Macs: `lab`, which names nobody
    assert re.findall(r".*\blab\b.*", output) == ["| yes lab is a member of staff"] * 2
    assert "user-" in output
    hosts = parse_shared(text)
    assert [host.system.split(" (")[0] for host in hosts] == ["macOS 15.5", "Mac OS X 10.6.8"]
    assert [host.is_emulated for host in hosts] == [True, True]
    for host in hosts:
        captures = {entry.name: entry.verdict for entry in host.entries if entry.kind == "capture"}
        assert {name for name, verdict in captures.items() if verdict != "read"} == set()
        assert len(captures) > 15
    macs.refusal(2, "check", "--hosts", str(macs.hosts), "--hardware", "--share", str(file))
    assert file.read_text() == text
