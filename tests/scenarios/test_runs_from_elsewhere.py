"""Run folders of others on real hosts: they run nothing, here or there; and what a run of ours left is put back."""

import json
import shutil
from pathlib import Path

import pytest
from support.killed_runs import HOST_JOURNALS, SMALL, elsewhere
from support.local_lab import HOSTS, Bench

from lab.platforms.linux.settings import LinuxMtu
from lab.settings.journal import Record

BAIT = "/root/PWNED-host"


def blog(bench: Bench, hosts_file: str, journal: str) -> Path:
    path = bench.directory / "results/20260101T000000Z-blog"
    path.mkdir(parents=True)
    sweep = bench.sweep(**SMALL).read_text()
    run = {"schema": 2, "name": "blog", "sweep_text": sweep, "seed": 7, "hosts_file": hosts_file, "hosts": {}}
    (path / "run.json").write_text(json.dumps(run | {"ended": "interrupted", "instance": None}))
    (path / "journal.jsonl").write_text(journal)
    return path


def change(host: str) -> str:
    """A change whose undoing is a command of the attacker's."""
    script = {"argv": ["sh", "-c", f"id > {BAIT}; echo present"], "root": True, "deadline_s": 30.0}
    values = {"number": 1, "host": host, "name": "MTU of eth0", "old": "1500", "new": "9000"}
    return json.dumps(values | {"read": script, "undo": [script], "event": "change"}) + "\n"


def test_a_run_of_somebody_else_runs_nothing_on_the_controller(bench: Bench, tmp_path: Path) -> None:
    bait = tmp_path / "PWNED-controller"
    path = blog(bench, "results/20260101T000000Z-blog/hosts.ini", "")
    text = bench.hosts.read_text()
    command = f"proxy_command = sh -c 'id > {bait}'; "
    (path / "hosts.ini").write_text(text.replace("proxy_command = ", command))
    (bench.directory / "link.ini").symlink_to(path / "hosts.ini")
    for journal in ("", change("client")):
        (path / "journal.jsonl").write_text(journal)
        for argv in (["restore"], ["restore", "--trust", str(path)], ["run", "--resume", str(path)],
                     ["run", "--resume", str(path), "--trust"], ["restore", "--hosts", str(path / "hosts.ini")],
                     ["run", "--resume", str(path), "--trust", "--hosts", "link.ini"],
                     ["check", "--hosts", "link.ini"]):  # fmt: skip
            done = bench.lab(*argv)
            assert done.returncode in (1, 2), (argv, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr
    (bench.directory / "link.ini").unlink()
    assert not bait.exists()


@pytest.mark.parametrize(("host", "is_command"), [("client", True), ("server", False)])
def test_a_run_of_somebody_else_runs_nothing_on_the_hosts(bench: Bench, host: str, is_command: bool) -> None:
    operation = json.dumps(Record(1, host, LinuxMtu("eth0"), "1500", "9000").as_json()) + "\n"
    path = blog(bench, bench.hosts.name, change(host) if is_command else operation)
    words = "line 1 is not of a journal" if is_command else f"{host}: MTU of eth0: from '9000' to '1500'"
    for argv in (["restore"], ["restore", str(path)], ["run", "--resume", str(path)],
                 ["restore", "--hosts", str(bench.hosts)],
                 ["run", "--resume", str(path), "--trust", "--hosts", str(bench.hosts)]):  # fmt: skip
        done = bench.lab(*argv)
        assert done.returncode in (1, 2), (argv, done.stdout, done.stderr)
        assert words in done.stderr or "--resume" in argv, (argv, done.stderr)
        assert BAIT not in done.stderr
    for host in HOSTS:
        assert bench.inside(host, f"ls {BAIT} 2>/dev/null || echo none") == "none\n"
        assert bench.inside(host, "cat /sys/class/net/eth0/mtu") == "1500\n"


@pytest.mark.parametrize("damage", ["forged"])
def test_a_run_with_a_damaged_journal_is_restored_by_hosts_and_resumed(bench: Bench, killed: Path, damage: str) -> None:
    journal = killed / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    if damage == "gone":
        journal.unlink()
    elif damage == "forged":
        restored_lines = (b'{"number": %d, "event": "restored"}\n' % number for number in range(1, len(lines) + 1))
        journal.write_bytes(b"".join([*lines, *restored_lines]))
    else:
        journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    restored = bench.lab("restore")
    assert restored.returncode == 1
    assert "lab restore --hosts FILE" in restored.stderr
    assert "nothing is left" not in restored.stdout
    bench.check_output("restore", "--hosts", str(bench.hosts))
    assert "nothing is left" in bench.lab("restore").stdout
    for host in HOSTS:
        assert bench.inside(host, HOST_JOURNALS) == ""
    kept = len(bench.trials())
    bench.check_output("run", "--resume", str(killed))
    assert len(bench.trials()) == 6 > kept


def test_a_run_of_another_account_is_restored_and_resumed_if_trusted(
    bench: Bench, killed: Path, tmp_path: Path
) -> None:
    other = elsewhere(bench, tmp_path, same_account=False)
    path = tmp_path / "results" / killed.name
    shutil.copytree(killed, path)
    message = other.refusal(1, "restore")
    assert "server: MTU of eth0: from '9000' to '1500'" in message
    assert f"`lab restore --trust results/{killed.name} --hosts FILE`" in message
    other.check_output("restore", "--trust", str(path), "--hosts", str(bench.hosts))
    assert "nothing is left" in other.lab("restore").stdout
    assert "lab run --resume RUN --trust --hosts FILE" in other.refusal(2, "run", "--resume", str(path))
    other.check_output("run", "--resume", str(path), "--trust", "--hosts", str(bench.hosts))
    assert len(other.trials()) == 6
    assert "nothing is left" in other.lab("restore").stdout
    bench.check_output("restore")  # the run is still open in the register of this controller
