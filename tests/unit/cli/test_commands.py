"""The commands: exit 0 done, 1 something failed, 2 bad input; one message, never a traceback."""

import getpass
import itertools
import json
import os
import re
import signal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.commands import Command, Lab, write
from support.input_files import HOSTS, SWEEP
from support.paths import ROOT

from lab.base.errors import HostError, Interrupted
from lab.check import doctor
from lab.check.doctor import Finding
from lab.check.finding import Level
from lab.hosts import Host, ssh

PROMPTING = HOSTS.replace("env:LAB_PASSWORD", "prompt")
WRONG = ("", "fly", "plan", "run", "run a.toml --resume b", "plan a.toml --fast", "local", "local fly",
         "local exec nas -- true")  # fmt: skip


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_command_is_exit_2_and_says_usage(refused: Command, line: str) -> None:
    assert refused(*line.split()).startswith("usage: lab")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["plan", "no.toml"], "no.toml: no such file; the sweeps that come with the lab are ashift, blog-2011, "),
        (["plan", "bad.toml"], "bad.toml: not valid TOML"),
        (["plan", "."], ".: cannot be read"),
        (["plan", "wrong.toml"], "wrong.toml: nmae: unknown; what may stand here is name"),
        (["plan", "unknown.toml"], "unknown protocol 'smbb'; known are"),
        (["run", "good.toml"], "hosts.ini: no such file; `lab init` makes one; or copy "),
        (["run", "good.toml", "--hosts", "other.ini"], "other.ini: no such file"),
        (["run", "bad.toml", "--hosts", "good.ini"], "bad.toml: not valid TOML"),
        (["run", "good.toml", "--hosts", "good.ini"], 'give store = ["disk"] in the sweep, or serve = lab'),
        (["run", "disk.toml", "--hosts", "serving.ini"], 'path: missing\nstore "disk" needs the folder on the server'),
        (["run", "large.toml", "--hosts", "good.ini"], "[client] ram_disk: 2147483648 bytes cannot hold a payload of"),
        (["run", "good.toml", "--hosts", "zfs.ini"], "[client] ram_disk_format: Input should be 'tmpfs', 'ext4'"),
        (["check", "--hosts", "zfs.ini"], "'hfs-case' or 'apfs' (it is 'zfs')"),
        (["run", "disk.toml", "--hosts", "ready.ini"], "environment variable LAB_PASSWORD is not set"),
        (["run", "--resume", "no-run"], "no-run: not a run folder, and no run of results is called so"),
        (["check"], "hosts.ini: no such file"),
        (["show"], "results: holds no run; `lab run SWEEP` makes one"),
        (["show", "no-run"], "no-run: not a run folder"),
        (["show", "no-run", "--json"], "no-run: not a run folder"),
        (["report", "no-run"], "no-run: not a run folder"),
        (["check", "--share", "x.txt"], "--hardware"),
        (["run", "good.toml", "--retry-failed"], "give --resume RUN with it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_exit_2(refused: Command, monkeypatch: pytest.MonkeyPatch, argv: list[str], message: str) -> None:
    for module in (ssh, doctor):
        monkeypatch.setattr(module, "SshHost", lambda *_: pytest.fail("it connected"))
    monkeypatch.delenv("LAB_PASSWORD", raising=False)
    for name, text in {
        "good.toml": SWEEP, "bad.toml": "name = ", "wrong.toml": SWEEP.replace("name", "nmae"),
        "unknown.toml": SWEEP.replace("smb", "smbb"), "disk.toml": SWEEP + 'store = ["disk"]\n',
        "large.toml": SWEEP.replace("32 MiB", "2 GiB"), "good.ini": HOSTS, "ready.ini": HOSTS + "path = /srv\n",
        "zfs.ini": HOSTS.replace("[client]", "[client]\nram_disk_format = zfs"), "serving.ini": HOSTS + "serve = lab\n",
    }.items():  # fmt: skip
        write(name, text)
    assert message in refused(*argv)
    assert not Path("results").exists()


def test_a_plan_is_printed_and_changes_nothing(lab: Lab) -> None:
    write("a.toml", SWEEP.replace('["smb"]', '["smb", "ssh"]'))
    before = sorted(Path().rglob("*"))
    code, out, err = lab("plan", "a.toml", "--order")
    assert (code, err) == (0, "")
    assert out.startswith("2 cases, 6 trials, 0.2 GB to move\n")
    assert "left out:\n  ssh with cp: cp needs a mounted share, ssh has none" in out
    order = [f"b00{block}-000{position}" for block in (1, 2, 3) for position in (1, 2)]
    assert [line.split()[0] for line in out.splitlines() if line.startswith("b0")] == order
    assert sorted(Path().rglob("*")) == before


def test_a_plan_as_json_is_the_whole_plan(done: Command) -> None:
    planned = json.loads(done("plan", write("a.toml", SWEEP), "--json"))
    assert (len(planned["slots"]), len(planned["cases"]), planned["bytes_moved"]) == (6, 2, 6 * (32 << 20))
    assert set(planned["slots"][0]) == {"block", "position", "case", "anchor"}


def test_a_host_that_cannot_be_reached_is_exit_1(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(role: str, _: Any) -> Host:
        raise HostError(f"{role}: you@mac [/odd] cannot be reached")

    monkeypatch.setattr(ssh, "SshHost", refuse)
    monkeypatch.setenv("LAB_PASSWORD", "x")
    write("hosts.ini", HOSTS + "path = /srv\n")
    write("a.toml", SWEEP + 'store = ["disk"]\n')
    assert lab("run", "a.toml")[::2] == (1, "client: you@mac [/odd] cannot be reached\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_has_a_code(lab: Lab, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int) -> None:
    monkeypatch.setattr(doctor, "check", Mock(side_effect=Interrupted(f"stopped by {number.name}", number)))
    assert lab("check") == (code, "", f"stopped by {number.name}\n")


@pytest.mark.parametrize(
    ("level", "code", "verdict"),
    [
        ("ok", 0, "ready: nothing is in the way"),
        ("note", 0, "ready: nothing is in the way"),
        ("warning", 0, "ready, but 1 warning: nfs (see above)"),
        ("problem", 1, "not ready: 1 problem: nfs (see above)"),
    ],
)
def test_a_check_with_a_problem_is_exit_1(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, level: Level, code: int, verdict: str
) -> None:
    findings = [Finding(level, "nfs", "no [/bin/sh] there", "give it [one]"), Finding("ok", "client", "fine")]
    monkeypatch.setattr(doctor, "check", lambda *_: (findings, {"hosts": {"client": {"cores": 2}}}))
    printed = f"{level:8} nfs: no [/bin/sh] there  -> give it [one]\nok       client: fine\n{verdict}\n"
    assert lab("check")[:2] == (code, printed)
    json_code, out, _ = lab("check", "--json")
    check = json.loads(out)
    assert (json_code, check["findings"][0]["level"], check["hosts"]) == (code, level, {"client": {"cores": 2}})


def test_without_home_the_account_says_where_it_is(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service of systemd has no HOME, and ssh, gio and the lab's scripts need it."""
    home = os.path.expanduser(f"~{getpass.getuser()}")  # noqa: PTH111
    monkeypatch.delenv("HOME")
    lab("list")
    assert os.environ["HOME"] == home


def test_a_plan_that_its_cap_cuts_short_says_so(done: Command) -> None:
    assert "warning" not in done("plan", write("a.toml", SWEEP))
    printed = done("plan", write("a.toml", SWEEP.replace("[workload]", 'time_cap = "1 s"\n[workload]', 1)))
    assert re.search(r"\nwarning: time_cap = 1 s ends the run after about \d+ of \d+ trials, .* raise it", printed)


def test_without_a_terminal_nothing_is_asked(refused: Command) -> None:
    err = " ".join(refused("init").split())
    assert all(text in err for text in ("there is no terminal to ask at", "fill in the lines marked <--"))


@pytest.mark.parametrize("argv", [["check"], ["run", "a.toml"]])
def test_the_untouched_template_asks_for_no_password(refused: Command, argv: list[str]) -> None:
    write("hosts.ini", (ROOT / "hosts.ini").read_text(encoding="utf-8"))
    write("a.toml", (ROOT / "sweeps" / "macs.toml").read_text(encoding="utf-8"))
    lines = "line 10 ([client] host), line 12 ([client] user)"
    assert refused(*argv).startswith(f"hosts.ini: fill in the lines marked <--: {lines}")


@pytest.mark.parametrize("argv", [["up"], ["down"], ["status"], ["exec", "server", "--", "true"]], ids=" ".join)
def test_the_local_lab_needs_root(refused: Command, monkeypatch: pytest.MonkeyPatch, argv: list[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    first, _ = refused("local", *argv).splitlines()
    assert "needs root" in first or "needs Linux" in first


def test_exec_without_a_command_says_so(refused: Command) -> None:
    for argv in (["server"], ["server", "--"], ["server", "--name", "mine", "--", "ps"]):
        assert refused("local", "exec", *argv) == "usage: lab local exec [--name NAME] HOST -- CMD\n"


def test_a_plan_says_what_does_not_fit_the_hosts_file(refused: Command, done: Command) -> None:
    hosts = write("hosts.ini", PROMPTING.replace("[share]", "[share]\npath = /srv"))
    done("plan", write("a.toml", SWEEP + 'store = ["disk"]\n'), "--hosts", hosts)
    sweep = write("a.toml", SWEEP + 'store = ["ram"]\n')
    assert "hosts.ini: [share] serve = existing" in refused("plan", sweep, "--hosts", hosts)


def test_a_plan_counts_a_fill_with_the_image_size_of_the_hosts_file(done: Command) -> None:
    hosts_file = write("hosts.ini", PROMPTING.replace("[share]", "[share]\nserve = lab\nimage_size = 8 GiB"))
    took = {}
    for percent, hosts in itertools.product((0, 90), ((), ("--hosts", hosts_file))):
        sweep = write("a.toml", SWEEP + f'store = ["ext4"]\next4.fill = [{percent}]\n')
        took[percent, bool(hosts)] = json.loads(done("plan", sweep, *hosts, "--json"))
    fills = took[90, True]["changes"]["fill"]
    for has_hosts, image_bytes in ((False, 2 << 30), (True, 8 << 30)):
        more_s = took[90, has_hosts]["estimated_s"] - took[0, has_hosts]["estimated_s"]
        assert more_s == pytest.approx(fills * 0.9 * image_bytes / 60e6)
