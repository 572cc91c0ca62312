"""A server that has its share already, and of programs little more than a shell: it is counted, and left as it is."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.local_lab import Bench, check_findings, end
from support.other_servers import BARE, LARGE, SHARE, on_share, wait_until_under_way

FILES = "find /root /run /srv /tmp /var -xdev | grep -v ^/run/servers/ | sort"


def hosts_file(bench: Bench, **server: str | None) -> Path:
    """A hosts file with a share that is there already."""
    share = {"share_serve": "existing", "share_name": "labram", "share_path": SHARE}
    return bench.changed_hosts(**share, **{f"server_{key}": value for key, value in server.items()})


@pytest.fixture(scope="module")
def bare(served: Bench) -> Iterator[None]:
    bashrc = served.inside("server", "cat /root/.bashrc")
    served.inside("server", f"set -- /root\n{BARE}")
    yield
    served.inside("server", f"cat > /root/.bashrc <<'END'\n{bashrc}END\n")


def test_a_sweep_counts_a_server_with_a_bare_shell_and_leaves_it_alone(bare: None, unseen: Bench) -> None:
    hosts, before = hosts_file(unseen), unseen.inside("server", FILES)
    findings = check_findings(unseen, hosts)
    assert {finding["level"] for finding in findings} == {"note", "ok"}
    why = "the server is only watched (perl is missing"
    watched, ssh = [finding for finding in findings if finding["message"].startswith(why)]
    assert (watched["subject"], ssh["subject"]) == ("server watched", "ssh")
    done = unseen.run(hosts=hosts, protocol=["smb"], tool=["cp"], store=["disk"], size="64 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    assert watched["message"] in done.stderr
    trials = unseen.trials()
    assert [(trial["status"], trial["verified"], trial["reason"]) for trial in trials] == [("ok", True, "")] * 2
    for trial in trials:
        server = trial["observed"]["server"]
        assert None not in (server["core_mean"], server["memory_least_bytes"], trial["server_cpu_s"])
        assert trial["size_bytes"] <= server["rx_bytes" if trial["direction"] == "write" else "tx_bytes"]
        assert abs(trial["observed"]["wire"]["lost_bytes"]) < trial["size_bytes"] / 10
    assert any(trial["observed"]["server"].get("process", "").startswith("smbd") for trial in trials)
    assert unseen.inside("server", FILES) == before
    assert json.loads(unseen.check_output("show", "--json"))


def test_a_killed_run_is_put_back_and_resumed_without_the_server(bare: None, unseen: Bench) -> None:
    hosts = hosts_file(unseen)
    with unseen.started_run(hosts=hosts, **LARGE) as run:
        wait_until_under_way(unseen, run)
        assert end(run, signal.SIGKILL)[0] == -signal.SIGKILL
    unseen.wait_until_free()
    assert "put back" in unseen.check_output("restore")
    assert on_share(unseen) == []
    unseen.check_output("restore", "--hosts", str(hosts))
    unseen.check_output("run", "--resume", str(unseen.newest()))
    assert [trial["status"] for trial in unseen.trials()] == ["ok"]


def test_an_account_without_root_is_enough(unseen: Bench) -> None:
    hosts = hosts_file(unseen, user="lab", sudo=None)
    done = unseen.run(hosts=hosts, protocol=["smb"], tool=["cp"], store=["disk"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the server is only watched (its account gets no root: sudo: " in done.stderr
    assert [trial["status"] for trial in unseen.trials()] == ["ok", "ok"]
    assert all(trial["server_cpu_s"] is not None for trial in unseen.trials())
