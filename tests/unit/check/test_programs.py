"""The check of the programs of a host: of one that is missing, and of one that does not work."""

import shutil
from pathlib import Path

import pytest
from support.checked_macs import Macs, lines_of, machines_of

from lab.check import programs as program_check
from lab.check.machine import Machine
from lab.hosts.hosts_file import load_hosts
from lab.platforms.macos.platform import MacOS


def put(path: Path, script: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_program_that_is_missing_on_a_mac(macs: Macs) -> None:
    programs, machine = macs["client"].folder / "bin", machines_of(macs)["client"]
    (programs / "iperf3").unlink()
    assert lines_of(program_check.check(machine, "client programs")) == [
        "problem  client programs: iperf3 is missing: nothing can be measured without it"
        "  -> install Homebrew there (https://brew.sh), then `brew install iperf3`"
    ]
    put(programs / "brew", "")
    (programs / "rsync").unlink()
    lines = lines_of(program_check.check(machine, "client programs"))
    assert [line.partition("  -> ")[2] for line in lines] == [
        "`brew install iperf3` there",
        "rsync comes with macOS: find out where it went, or `brew install rsync` there",
    ]


@pytest.mark.parametrize(
    ("program", "script", "wrong"),
    [
        ("perl", "echo nonsense", "perl does not work: `perl -e print 6*7` prints 'nonsense'"),
        ("perl", "while :; do echo 43; done", "perl does not work: `perl -e print 6*7` prints '43'"),
        ("iperf3", "while :; do :; done", "iperf3 does not work: `iperf3 --version` does not end within 1 s"),
        ("rsync", "printf '\\033[2J'", "rsync does not work: `rsync --version` prints '\\\\x1b[2J'"),
    ],
)
def test_a_program_that_only_prints_nonsense_or_never_ends(
    macs: Macs, monkeypatch: pytest.MonkeyPatch, program: str, script: str, wrong: str
) -> None:
    monkeypatch.setattr(program_check, "TRY_S", 1 if "does not end" in wrong else 30)
    programs = macs["client"].folder / "bin"
    (programs / "ps").unlink()  # this machine's processes are to end
    (programs / "ps").symlink_to(shutil.which("ps") or "/bin/ps")
    put(programs / program, script)
    machine = Machine("client", load_hosts(Path("hosts.ini")).client, macs["client"], MacOS(macs["client"]), None)
    findings = program_check._try(machine, "client programs", ["perl", "iperf3", "rsync"])
    # on a busy machine another program may not end in time either
    (failure,) = [finding for finding in findings if finding.message.startswith(f"{program} ")]
    assert (failure.level, failure.subject) == ("problem", "client programs")
    assert failure.message == wrong
    assert failure.remedy.startswith(f"`command -v {program}` there")


@pytest.mark.parametrize(
    ("printed", "finding"),
    [
        ("", "note     {}: fio is missing: out is fio  -> install Homebrew there (https://brew.sh),"),
        ("fio-2.16", "warning  {}: fio: `fio --version` prints 'fio-2.16', and the lab needs fio 3.18 or a"),
        ("fio-3.36", "ok       {}: fio-3.36"),
    ],
)
def test_an_extra_program_is_for_the_client(macs: Macs, printed: str, finding: str) -> None:
    for host in macs.values():
        if printed:
            put(host.folder / "bin" / "fio", f"echo {printed}")
    machines = machines_of(macs)
    (line,) = lines_of(program_check.check_extras(machines["client"], "client extra programs"))
    assert line.startswith(finding.format("client extra programs"))
    assert list(program_check.check_extras(machines["server"], "server extra programs")) == []
