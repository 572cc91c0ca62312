"""Durability of servers: what they are told, what is read back, and that a flush can be made to do nothing."""

import dataclasses
import os
import shutil
import subprocess
import sys

import pytest
from support.fake_host import RecordingHost
from support.pairs import share_of, side_of
from support.paths import LINUX_CAPTURES
from support.sweeps import cases_of, sweep_of

from lab import protocols
from lab.base.errors import LabFailure, SettingRefused, Unsupported
from lab.design.case import Case
from lab.hosts import Result
from lab.protocols.driver import durability_in_effect
from lab.protocols.nfs.linux import parse_export
from lab.protocols.servers.unflushed import UNFLUSHED, parse_filtered, without_flushes
from lab.protocols.smb.linux import parse_testparm
from lab.run.begin.capability import check_server
from lab.settings.operation import Setting

LEVELS = ("default", "async", "sync", "always")


def configured(protocol: str, level: str) -> tuple[str, Setting]:
    """The configuration that a server is given for a level, and the setting of its process."""
    host = RecordingHost("server", ())
    (process,) = protocols.find(protocol).driver("linux").serve(side_of(host), share_of(server_sync=level))
    return "".join(given for argv, given in host.told if "umask" in argv[2]), process


@pytest.mark.parametrize(
    ("protocol", "level", "lines"),
    [
        ("smb", "default", ()), ("smb", "async", ("strict sync = no\n", "sync always = no\n")),
        ("smb", "sync", ("strict sync = yes\n", "sync always = no\n")),
        ("smb", "always", ("strict sync = yes\n", "sync always = yes\n")),
        ("nfs", "default", ()), ("nfs", "async", ("NFS_Commit = false;",)),
        ("nfs", "sync", ("NFS_Commit = false;",)), ("nfs", "always", ("NFS_Commit = true;",)),
    ],
)  # fmt: skip
def test_a_server_is_told_its_level_and_by_default_nothing(protocol: str, level: str, lines: tuple[str, ...]) -> None:
    text, _ = configured(protocol, level)
    assert all(line in text for line in lines)
    assert ("sync =" in text or "NFS_Commit" in text) == bool(lines)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("protocol", ["smb", "nfs", "afp"])
def test_only_servers_without_such_a_setting_lose_their_flushes_and_only_when_asked(protocol: str, level: str) -> None:
    _, process = configured(protocol, level)
    is_filtered = any(UNFLUSHED in step.argv for step in process.apply)
    assert is_filtered == (level == "async" and protocol != "smb")


def test_the_level_in_effect_is_what_the_server_says_and_is_not_guessed() -> None:
    levels = {"Yes\nNo\n": "sync", "Yes\nYes\n": "always", "No\nNo\n": "async", "No\nYes\n": "async"}
    assert {text: parse_testparm(text)["server_sync"] for text in levels} == levels
    for text in ("", "Yes\n", "Yes\nNo\nNo\n", "Yes\nmaybe\n"):
        with pytest.raises(Unsupported, match="testparm"):
            parse_testparm(text)
    export = (LINUX_CAPTURES / "ganesha-export-6.5.txt").read_text()
    commits = (LINUX_CAPTURES / "ganesha-export-commit-6.5.txt").read_text()
    odd_path = export.replace("/x)", "/x perms (options=ffffffff/)")
    assert [parse_export(text) for text in (export, commits, odd_path)] == [False, True, False]
    with pytest.raises(Unsupported, match="did not log"):
        parse_export("Export 77 created")
    assert [parse_filtered(text, "afpd") for text in ("yes\nyes\n", "no\n")] == [True, False]
    for text in ("", "yes\nno\n", "?\n"):
        with pytest.raises(LabFailure, match="afpd"):
            parse_filtered(text, "afpd")


def test_a_level_that_did_not_take_is_refused() -> None:
    host, share = RecordingHost("server", ()), share_of(server_sync="always")
    vars(host)["_execute"] = lambda argv, *_: Result(argv, 0, "Yes\nNo\n", "", 0.0)
    side = side_of(host)
    driver = protocols.find("smb").driver("linux")
    with pytest.raises(SettingRefused, match=r"server: server_sync was set to always and reads back as sync \(strict"):
        durability_in_effect(driver, side, share)
    default = dataclasses.replace(share, server_sync="default")
    assert durability_in_effect(driver, side, default)["server_sync"] == "sync"


# fsync of a file that is not open: only a kernel that looks at it can say so
FSYNC = """
import os
for call in (os.fsync, os.fdatasync):
    try: call(99)
    except OSError as error: print(error.strerror)
    else: print("flushed")
os.close(os.open("/dev/null", os.O_RDONLY))
"""


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("perl"), reason="needs perl and Linux's seccomp")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may filter its own calls without giving up set-user-ID")
def test_flushes_without_effect_never_reach_the_kernel_and_all_else_does() -> None:
    shell = ("sh", "-c", '"$@"', "sh", sys.executable, "-c", FSYNC)  # a child of a child: what a server would be
    plain = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
    without = subprocess.run(without_flushes(shell), capture_output=True, text=True, check=True).stdout
    assert (plain, without) == ("Bad file descriptor\n" * 2, "flushed\n" * 2)


def test_a_command_that_is_missing_is_named() -> None:
    process = subprocess.run(without_flushes(("no-such-server",)), capture_output=True, text=True, check=False)
    assert process.returncode != 0
    assert "no-such-server" in process.stderr or "server_sync" in process.stderr


def case_of(protocol: str, *, store: str = "disk", direction: str = "read", **options: str) -> Case:
    (case, *_), _ = cases_of(sweep_of(protocol=[protocol], tool=["rsync"], direction=[direction], store=[store]))
    return dataclasses.replace(case, options=tuple((dict(case.options) | options).items()))


@pytest.mark.parametrize(
    ("case", "serve", "advice"),
    [
        (case_of("afp", server_sync="always"), "lab", "afp cannot do server_sync = always: it can do default, async"),
        (case_of("ssh", server_sync="sync"), "lab", "ssh cannot do server_sync = sync: it can do default"),
        (case_of("smb", server_sync="sync"), "existing", "serve = lab"),
        (case_of("nfs", store="ram", server_cache="cold"), "lab", 'store = \\["disk"\\]'),
    ],
)
def test_what_cannot_be_had_is_refused_with_advice(case: Case, serve: str, advice: str) -> None:
    with pytest.raises(Unsupported, match=advice):
        check_server(case, protocols.find(case.protocol), serve)


@pytest.mark.parametrize(
    "case",
    [
        *(case_of(protocol, server_sync=level) for protocol in ("nfs", "smb") for level in LEVELS),
        case_of("ssh", server_cache="cold"),
        case_of("nfs", store="ram", direction="write", server_cache="cold"),
    ],
)
def test_what_can_be_had_is_not_refused(case: Case) -> None:
    check_server(case, protocols.find(case.protocol), "lab")
    if case.option("server_sync") == "default":
        check_server(case, protocols.find(case.protocol), "existing")
