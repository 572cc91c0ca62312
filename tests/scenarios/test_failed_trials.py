"""What goes wrong within a sweep: a server that dies, a full disk, a refused account, a missing program."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.local_lab import HOSTS, SMALL, Bench, small_disk
from support.secret_watch import shown_in


def test_a_server_killed_in_the_middle_fails_its_trial_which_can_be_measured_again(
    new_bench: Callable[..., Bench],
) -> None:
    bench = new_bench("--rate", "100mbit")
    before = bench.state()
    factors = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "size": "48 MiB", "blocks": 2}
    kill = bench.strike_under_way("smbd", 12_000_000, "pkill", "-KILL", "smbd")
    code, output = bench.run_struck(kill, **factors)
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok")
    assert "cp: exit code" in first["reason"]
    assert code == 1, output
    assert f"1 failed: `lab run --resume {bench.newest().relative_to(bench.directory)} --retry-failed`" in output
    assert bench.lab("run", "--resume", str(bench.newest())).returncode == 1
    assert bench.trials() == [first, second]
    assert "--retry-failed" not in bench.check_output("run", "--resume", str(bench.newest()), "--retry-failed")
    kept, _, again = bench.trials()
    assert kept == first | {"trial_id": f"{first['trial_id']}-failed"}
    assert (again["trial_id"], again["status"]) == (first["trial_id"], "ok")
    assert bench.state() == before


def test_a_full_disk_on_the_server_is_a_failed_trial(bench: Bench) -> None:
    with small_disk(bench, "size=8m,mode=1777"):
        hosts = bench.changed_hosts(share_path=SMALL)
        factors = {"protocol": ["smb", "nfs"], "tool": ["cp"], "direction": ["write"], "store": ["disk"]}
        done = bench.run(hosts=hosts, size="16 MiB", **factors)
        assert done.returncode == 1
        assert [trial["status"] for trial in bench.trials()] == ["failed", "failed"]
        for trial in bench.trials():
            assert "space" in trial["reason"], trial["reason"]
        assert bench.inside("server", f"ls {SMALL}") == ""


def test_an_mtu_that_the_link_refuses_fails_its_cases_only(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--delay", "1ms")  # a TAP device takes a little less than the largest MTU there is
    done = bench.run(mtu=[1500, 65535], direction=["write"])
    by_mtu = {trial["mtu"]: trial for trial in bench.trials()}
    assert done.returncode == 1
    assert by_mtu[1500]["status"] == "ok"
    assert by_mtu[65535]["status"] == "failed"
    assert "mtu" in by_mtu[65535]["reason"]


def test_a_ram_disk_larger_than_memory_is_refused_before_anything_else(bench: Bench) -> None:
    assert "does not fit" in bench.refused_run(1, hosts=bench.changed_hosts(server_ram_disk="100 TiB"))
    assert "does not fit" in bench.run_json()["ended"]
    assert not (bench.newest() / "trials.jsonl").exists()


def test_a_missing_program_is_named_with_its_package(bench: Bench) -> None:
    with bench.missing("server", "/usr/sbin/netatalk"):
        message = bench.refused_run(1, protocol=["afp"])
    assert "server: afp needs netatalk\n`apt-get install netatalk`" in message
    assert not (bench.directory / "results").exists()


def test_a_share_that_refuses_the_account_says_so(bench: Bench, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.touch(0o600)
    secret = "not%40 it/w:o'r\"d\\$x,é"
    wrong.write_text(secret)
    hosts = bench.changed_hosts(share_password=f"file:{wrong}")
    # AFP uses accounts of the system, which refuse a wrong password
    done = bench.run(hosts=hosts, protocol=["afp"], tool=["cp"], direction=["write"])
    assert done.returncode == 1
    (trial,) = bench.trials()
    assert trial["status"] == "failed"
    assert "afp://" in trial["reason"]
    assert "gio" in trial["reason"]  # on a busy machine it gives up in other words
    written = b"".join(path.read_bytes() for path in bench.newest().iterdir() if path.is_file())
    assert not shown_in(written + (done.stdout + done.stderr).encode(), secret)


@pytest.mark.parametrize("protocol", ["smb"])
def test_an_ordinary_user_with_a_sudo_password(bench: Bench, protocol: str) -> None:
    password = next(line.partition("file:")[2] for line in bench.hosts.read_text().splitlines() if "file:" in line)
    user = {"user": "lab", "sudo": "password", "sudo_password": f"file:{password}"}
    keys = {f"{role}_{key}": value for role in HOSTS for key, value in user.items()}
    bench.measure(hosts=bench.changed_hosts(**keys), protocol=[protocol], mtu=[9000], tcp_space=["64 KiB"])
    logs = "".join(path.read_text() for path in bench.newest().iterdir() if path.is_file())
    assert Path(password).read_text() not in logs


def test_no_sudo_is_explained(bench: Bench) -> None:
    hosts = bench.changed_hosts(client_user="lab", client_sudo="nopasswd")
    checked = bench.lab("check", "--hosts", str(hosts))
    assert checked.returncode == 1
    assert "sudo = password" in checked.stdout
    assert "sudo = password" in bench.refused_run(1, hosts=hosts)
