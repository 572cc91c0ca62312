"""What ended a measurement is told in the words of whoever typed the target, and without the lab's own files."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.fake_host import FakeHost

from lab.base.errors import (
    CommandError,
    DeadlineExceeded,
    HostError,
    HostKeyError,
    LabFailure,
    TransferError,
    Unsupported,
)
from lab.measure.failure import in_words_of_user, without_own_paths
from lab.measure.subject import Subject
from lab.platforms import Facts
from lab.platforms.linux.mounts import LinuxMounts
from lab.platforms.macos.mounts import MacMounts
from lab.run.case.sharing import FolderRefused, MountFailed
from lab.run.transfer.part import NoSpace

OWN = "/home/ann/.local/file-share-lab/file-share-lab-0123456789abcdef/gvfs/run/gvfs/smb-share:server=nas,share=a b"
FILE = f"{OWN}/file-share-lab-fedcba9876543210/pilot-write-1.bin"
URL = Subject(
    "smb://bob@nas/media/a%20b", "smb", "nas", "192.0.2.2", "192.0.2.1", cast(Facts, None), share="media", folder="a b",
    account="bob",
)  # fmt: skip
NFS = replace(URL, protocol="nfs", share="/srv/x", folder="", account="ann")
SSH = replace(URL, protocol="ssh", share="", folder="")
AFP = replace(URL, protocol="afp")
SHARP_S = replace(URL, share="Größe")


def machine(answers: bool = True, name: str = "linux") -> Any:
    mounts = (MacMounts if name == "macos" else LinuxMounts)(FakeHost())
    return SimpleNamespace(name=name, network=SimpleNamespace(answers=lambda *_: answers), mounts=mounts)


def mount(said: str, code: int = 2, remedy: str = "") -> LabFailure:
    return MountFailed("client", ("env", "LC_ALL=C"), code, said, remedy)


def mkdir(said: str) -> LabFailure:
    return FolderRefused("client", ("/bin/sh", "-c", "x" * 99), 1, f"mkdir: cannot create directory '{FILE}': {said}")


GIO = "gio: smb://nas/x/: Failed to mount Windows share: "
CP = f"cp: exit code 1: cp: error writing '{FILE}': "


@pytest.mark.parametrize(
    ("error", "subject", "message", "remedy"),
    [
        (mount("asked again", 77), URL, "the password was refused for bob, or bob may not use", "right? smb://ACCOUNT"),
        (mount(f"{GIO}No such file or directory"), URL, "the server nas has no share media, or hides it", "capitals"),
        (mount("gio: afp://nas/x/: Volume doesn’t exist"), AFP, "the server nas has no share media", "capitals"),
        (mount("gio: nfs://nas/x: Mount point does not exist"), NFS, "has no export /srv/x", "`showmount -e nas`"),
        (mount("gio: nfs://nas/x: Bad address"), NFS, "refuses its export /srv/x to this machine, or", "`insecure`"),
        (mount("mount_nfs: x: Permission denied", 13, "see its exports"), NFS, "refuses its export", "see its exports"),
        (mount(f"{GIO}No such file or directory"), SHARP_S, "GVfs, which mounts it on this machine, cannot", "folder"),
        (mount("no answer in 60 s", 124), URL, "port 445, and did not answer in 60 s", "an SMB server"),
        (mount(f"{GIO}Software caused connection abort"), URL, "the server nas hung up when", "no other program"),
        (mount("gio: x: Message recipient disconnected from message bus without replying"), AFP, "broke off", "bob"),
        (mount(f"{GIO}Invalid argument"), URL, "it cannot be mounted: gio: smb://nas/x/: Failed", "let this"),
        (mkdir("Permission denied"), URL, "bob may not write into the folder a b of the share media", "an account"),
        (mkdir("Read-only file system"), NFS, "this account may not write into the share /srv/x", "its number"),
        (mkdir("No space left on device"), URL, "the share media is full, or a quota is reached", "make room"),
        (NoSpace(f"{CP}Disk quota exceeded"), URL, "the share media is full, or a quota is reached: a test needs 17 MB",
         "quota"),
        (TransferError(f"{CP}Input/output error"), URL, "the connection to the server nas broke off", "try again"),
        (TransferError(f"{CP}Bad luck"), URL, "cp: error writing a file of the test: Bad luck",
         ""),
        (DeadlineExceeded("client", ("cp",), 120, ""), URL, "the server nas did not answer in 120 s", "is it up"),
        (Unsupported("no gvfsd", "`apt-get`", host="client"), URL, "this machine: no gvfsd", "`apt-get`"),
        (HostError("nas: cannot be reached", "is it on?", host="server"), SSH, "nas: cannot", "share is //nas/SHARE"),
        (HostKeyError("nas: unknown host key", "compare", host="server"), SSH, "nas: unknown host key", "compare"),
        (HostError("cannot be reached", "x", host="server"), URL, "server: cannot be reached", "x"),
    ],
)  # fmt: skip
def test_the_cause_comes_first_and_then_the_step(
    error: LabFailure, subject: Subject, message: str, remedy: str
) -> None:
    told = in_words_of_user("smb://typed", subject, machine(), error)
    assert told.message.startswith("smb://typed: ")
    assert message in told.message
    assert remedy in f"{told.message} {told.remedy}"
    assert bool(told.remedy) == bool(remedy)
    for word in (".local", "client", "script of the lab", "env LC_ALL", "exit code 2"):
        assert word not in told.brief()


def test_a_server_that_is_gone_is_told_before_what_the_command_said() -> None:
    lost = CommandError("client", ("perl",), 5, f"{FILE}: Input/output error")
    told = in_words_of_user("nas", URL, machine(answers=False), lost)
    assert told.message == "nas: the server nas no longer answers at port 445 (SMB)"


def test_a_mac_keeps_what_its_driver_knows_of_accounts() -> None:
    told = in_words_of_user("nas", URL, machine(name="macos"), mount("again", 77, "a Mac lets in only some accounts"))
    assert told.remedy == "a Mac lets in only some accounts"


@pytest.mark.parametrize(
    ("error", "answers", "told"),
    [
        (mkdir("Operation not permitted"), True, "macOS keeps commands over SSH out of the share media"),
        (mount("ls: /x: Operation not permitted", 1), True, "macOS keeps commands over SSH out of the share media"),
        (DeadlineExceeded("client", ("ls",), 30, ""), True, "nothing came of the share media, though its server"),
        (DeadlineExceeded("client", ("ls",), 30, ""), False, "the server nas did not answer in 30 s"),
        (mount("mount_nfs: can't mount /x: Operation not permitted", 1), True, "it cannot be mounted: mount_nfs"),
    ],
)
def test_a_mac_that_keeps_the_lab_out_of_a_share_is_named(error: LabFailure, answers: bool, told: str) -> None:
    failure = in_words_of_user("nas", URL, machine(answers, "macos"), error)
    assert failure.message.startswith(f"nas: {told}")
    assert ("Allow full disk access" in failure.remedy) == ("share media" in told)


def test_the_log_of_the_raw_text_is_named() -> None:
    first = CommandError("client", ("gio",), 2, "x")
    first.log = Path("results/a/commands.log")
    failed = mount("x")
    failed.__cause__ = first
    assert in_words_of_user("nas", URL, machine(), failed).log == first.log


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (f"cp: cannot stat '{FILE}': No such file", "cp: cannot stat a file of the test: No such file"),
        (f'write failed on "{FILE}": x', "write failed on a file of the test: x"),
        (f"{FILE}: Input/output error", "a file of the test: Input/output error"),
        ("cp: '/mnt/nas/mine': Permission denied", "cp: '/mnt/nas/mine': Permission denied"),
        (f"a '/x/y' and '{FILE}'", "a '/x/y' and a file of the test"),
    ],
)
def test_files_of_the_labs_own_are_named_by_a_word(text: str, short: str) -> None:
    assert without_own_paths(text) == short
