"""Shares in what smbclient, smbutil and showmount print, and asking them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import mutated
from support.paths import LINUX_CAPTURES, MACOS_CAPTURES

from lab.hosts.fields import absolute, share_name
from lab.init.shares import Share, list_shares, parse_showmount, parse_smbclient, parse_smbutil

SMBCLIENT = (LINUX_CAPTURES / "smbclient-L-4.22.txt").read_text(encoding="utf-8")
SHOWMOUNT = (LINUX_CAPTURES / "showmount-e.txt").read_text(encoding="utf-8")
SMBUTIL = (MACOS_CAPTURES / "smbutil-view.txt").read_text(encoding="utf-8")
LONG = "a-name-of-more-than-forty-eight-characters-as-nobody-has-it"
NAMES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="/\\|$"), min_size=1, max_size=60)
NAMES = NAMES.filter(lambda name: name not in (".", ".."))


def names(shares: list[Share], protocol: str) -> list[str]:
    assert {share.protocol for share in shares} <= {protocol}
    return [share.name for share in shares]


def test_folders_that_are_not_hidden_and_paths_with_spaces_are_listed() -> None:
    assert names(parse_smbclient(SMBCLIENT), "smb") == ["media", "Time Machine", "café", LONG]
    assert names(parse_smbutil(SMBUTIL), "smb") == ["media", "Time Machine", "My Disk", "café", LONG]
    assert names(parse_showmount(SHOWMOUNT), "nfs") == ["/srv/media", "/srv/two words"]
    of_mac = (MACOS_CAPTURES / "showmount-e.txt").read_text(encoding="utf-8")  # with spaces between clients
    assert names(parse_showmount(of_mac), "nfs") == ["/data", "/opt/share", "/System/Volumes/Data/Users/a b"]


@pytest.mark.parametrize("parse", [parse_smbclient, parse_smbutil, parse_showmount])
@given(text=mutated([SMBCLIENT.encode(), SMBUTIL.encode(), SHOWMOUNT.encode()]))
def test_whatever_a_server_says_only_names_that_a_hosts_file_takes_come_out(parse: object, text: bytes) -> None:
    assert callable(parse)
    for share in parse(text.decode(errors="replace")):
        assert share.name == (absolute if share.protocol == "nfs" else share_name)(share.name)


@given(name=NAMES, comment=st.text(st.characters(exclude_categories=("C", "Z")), max_size=20))
def test_every_name_that_is_printed_is_read(name: str, comment: str) -> None:
    padding = " " * max(0, 48 - len(name.encode()))
    assert names(parse_smbutil(f"{name}{padding}Disk    {comment}\n"), "smb") == [name]
    assert names(parse_smbclient(f"Disk|{name}|{comment}\n"), "smb") == [name]
    assert names(parse_showmount(f"/{name} 10.0.0.0/8,fd00::/8\n"), "nfs") == [f"/{name}"]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is searched for programs before all others."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_server_is_asked_only_for_what_answers_there(programs: Path) -> None:
    put(programs, "smbclient", f'echo "$*" >> {programs}/asked; echo "Disk|media|"')
    put(programs, "smbutil", f"echo smbutil >> {programs}/asked")
    put(programs, "showmount", f'echo "$*" >> {programs}/asked; echo "/srv/x  *"')
    assert list_shares("10.0.0.2", frozenset({"SSH", "AFP"})) == []
    assert list_shares("10.0.0.2", frozenset({"SMB", "NFS"})) == [Share("smb", "media"), Share("nfs", "/srv/x")]
    assert (programs / "asked").read_text().splitlines() == ["-N -g -L //10.0.0.2", "-e 10.0.0.2"]


def test_a_mac_is_asked_with_the_keychain_and_then_as_a_guest(programs: Path) -> None:
    put(programs, "smbclient", "exit 1")
    put(programs, "smbutil", f'[ "$3" = -G ] && cat {MACOS_CAPTURES}/smbutil-view.txt; exit 0')
    assert Share("smb", "media") in list_shares("10.0.0.2", frozenset({"SMB"}))


def test_a_program_that_never_ends_is_given_up(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.init.shares.DEADLINE_S", 0.2)
    put(programs, "smbclient", "exec sleep 60")
    put(programs, "smbutil", "exit 1")
    assert list_shares("10.0.0.2", frozenset({"SMB"})) == []
