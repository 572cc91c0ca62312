"""A Samba that serves Macs, for Time Machine or not: what it is told, what it needs, and how it is read back."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.recording_host import RecordingHost
from support.sides import OWN, side_of

from lab import protocols
from lab.base.errors import Unsupported
from lab.hosts.command import script
from lab.protocols import Share
from lab.protocols.options import find_clash
from lab.protocols.smb.linux import HAS_FRUIT, LinuxSmb, parse_time_machine

FRUIT = "vfs objects = catia fruit streams_xattr\n"


def share(**options: str) -> Share:
    return Share(f"{OWN}/ram", "share", "account", SecretStr("x"), served_by_lab=True, options=options)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ""),
        ({"time_machine": "false"}, f"{FRUIT}fruit:time machine = no\n"),
        ({"time_machine": "true"}, f"{FRUIT}fruit:time machine = yes\n"),
    ],
)
def test_samba_is_told_of_macs_where_a_sweep_says_so_alone(options: dict[str, str], lines: str) -> None:
    host = RecordingHost("server", ())
    list(protocols.find("smb").driver("linux").serve(side_of(host, "linux", "192.0.2.2", OWN, "me"), share(**options)))
    text = "".join(given for argv, given in host.told if "umask" in argv[2])
    assert lines in text
    assert ("fruit" in text) == bool(lines)


def test_a_samba_without_the_module_for_macs_is_an_error_that_names_its_package() -> None:
    host = FakeHost("server")
    side = side_of(host, "linux", "192.0.2.2", OWN, "me")
    assert LinuxSmb().cannot_serve(side, share()) == ""
    host.on(script(HAS_FRUIT))
    assert LinuxSmb().cannot_serve(side, share(time_machine="true")) == ""
    host.on(script(HAS_FRUIT), exit_code=1)
    with pytest.raises(Unsupported, match="no vfs_fruit there: `apt-get install samba-vfs-modules`"):
        LinuxSmb().cannot_serve(side, share(time_machine="true"))


def test_other_servers_have_no_such_level() -> None:
    assert "only Samba" in find_clash({"server": "ksmbd", "time_machine": "false"})
    assert find_clash({"server": "samba", "time_machine": "true", "client": "gvfs"}) == ""
    side = side_of(FakeHost("server"), "macos", "192.0.2.2", OWN, "me")
    refusal = protocols.find("smb").driver("macos").cannot_serve(side, share(time_machine="true"))
    assert refusal == "the lab does not choose what serves there"


@pytest.mark.parametrize(("text", "level"), [("yes\n", "true"), ("No\n", "false"), ("", ""), ("maybe\n", "")])
def test_testparm_tells_the_level(text: str, level: str) -> None:
    assert parse_time_machine(text) == level
