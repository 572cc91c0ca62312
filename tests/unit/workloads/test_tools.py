"""The commands that move a payload, as each platform calls their programs."""

import shlex
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from support.fake_host import FakeHost

from lab import protocols, workloads
from lab.base.errors import Absent, Unsupported
from lab.platforms.linux.files import LinuxPrograms
from lab.platforms.macos.files import MacPrograms
from lab.workloads import Move
from lab.workloads.file import deadline_s

COPY = Move(source="/a", target="/b", size_bytes=1 << 20)
REMOTE = Move(source="/a", target="me@nas:/b", size_bytes=1 << 20, remote_shell="ssh -p 2")
LINUX, MAC = LinuxPrograms(FakeHost()), MacPrograms(FakeHost())
OPENRSYNC = ("env", "CHOSEN_RSYNC=rsync_openrsync", "rsync")


def test_tools_copy_every_byte_and_nothing_else_unless_it_is_asked_for() -> None:
    cp = workloads.tool("cp")
    assert cp.argv(LINUX.call("cp"), "", COPY) == ("cp", "--sparse=never", "--reflink=never", "--", "/a", "/b")
    assert cp.argv(MAC.call("cp"), "", COPY) == ("cp", "-X", "--", "/a", "/b")
    rsync = workloads.tool("rsync")
    argv = rsync.argv(LINUX.call("rsync"), "rsync 3.4.1, protocol 32", COPY)
    assert argv == ("rsync", "-W", "--inplace", "--", "/a", "/b")
    argv = rsync.argv(MAC.call("rsync"), "openrsync, protocol 29", REMOTE)
    assert argv == (*OPENRSYNC, "-W", "--inplace", "-e", "ssh -p 2", "--", "/a", "me@nas:/b")
    metadata, call = workloads.tool("cp-metadata"), (*MAC.call("cp"), "-R")
    assert cp.argv(call, "", COPY) == ("cp", "-X", "-R", "--", "/a", "/b")
    assert metadata.argv(call, "", COPY) == ("cp", "-R", "--", "/a", "/b")
    assert metadata.only_on == "macos"


@pytest.mark.parametrize(
    ("version", "flag"),
    [("rsync 2.6.9, protocol 29", "-aE"), ("openrsync, protocol 29", "-aE"), ("rsync 3.4.1, protocol 32", "-aX")],
)
def test_what_keeps_extended_attributes_depends_on_the_engine(version: str, flag: str) -> None:
    argv = workloads.tool("rsync-metadata").argv(MAC.call("rsync"), version, COPY)
    assert argv == (*OPENRSYNC, "-W", "--inplace", flag, "--", "/a", "/b")


APPLES, THIRD = "openrsync: protocol version 29\n", "rsync  version 3.4.1  protocol version 32\n"


@pytest.mark.parametrize(("here", "there"), [(APPLES, THIRD), (THIRD, APPLES), (APPLES, APPLES), (THIRD, THIRD)])
def test_two_kinds_of_engines_have_no_option_for_attributes_in_common(here: str, there: str) -> None:
    tool, call = workloads.tool("rsync-metadata"), MAC.call("rsync")
    client, server = FakeHost(), FakeHost("server")
    client.on((*call, "--version"), here)
    server.on(("rsync", "--version"), there)
    refusal = pytest.raises(Absent, match=r"rsync-metadata over ssh: .* have no option for attributes in common")
    with nullcontext() if here == there else refusal:
        tool.check_ends(client, call, server)


def version_of(tool: str, call: tuple[str, ...], printed: str) -> str:
    host = FakeHost()
    host.on((*call, "--version"), printed)
    return workloads.tool(tool).version(host, call)


@pytest.mark.parametrize(("printed", "engine"), [
    ("rsync  version 2.6.9  protocol version 29\n", "rsync 2.6.9, protocol 29"),
    ("openrsync: protocol version 29\nrsync version 2.6.9 compatible\n", "openrsync, protocol 29"),
])  # fmt: skip
def test_apples_rsyncs_are_told_to_use_the_cache_and_the_record_says_so(printed: str, engine: str) -> None:
    tool, call = workloads.tool("rsync-cache"), MAC.call("rsync")
    version = version_of("rsync-cache", call, printed)
    assert version == f"{engine}, --cache"
    assert tool.argv(call, version, COPY)[2:] == ("rsync", "-W", "--inplace", "--cache", "--", "/a", "/b")
    with pytest.raises(Unsupported, match="protocol 32 knows no --cache: let macOS's own rsync come first"):
        version_of("rsync-cache", call, "rsync  version 3.4.1  protocol version 32\n")


@pytest.mark.parametrize("printed", ["openrsync: protocol version 27\n", "rclone v1.60\n"])
def test_an_rsync_without_the_flags_is_refused_with_what_it_says_of_itself(printed: str) -> None:
    """The openrsync of OpenBSD knows no --inplace, and prints its version as an error."""
    host = FakeHost()
    host.on(("rsync", "--version"), stderr=printed)
    with pytest.raises(Unsupported, match=f"neither rsync nor the openrsync of macOS: '{printed[:-1]}"):
        workloads.tool("rsync").version(host, ("rsync",))


def test_a_cp_that_knows_not_the_options_of_linux_is_refused() -> None:
    for exit_code, refusal in ((0, nullcontext()), (1, pytest.raises(Unsupported, match="install GNU coreutils"))):
        host = FakeHost()
        host.on((*LINUX.call("cp"), "--help"), "Usage", exit_code=exit_code)
        with refusal:
            workloads.tool("cp").check(host, LINUX.call("cp"))
    workloads.tool("cp").check(FakeHost(), MAC.call("cp"))


@pytest.mark.parametrize("host", [LINUX, MAC])
@pytest.mark.parametrize(("level", "block_bytes"), [(None, 1 << 20), ("4 KiB", 4096), ("512 B", 512)])
def test_dd_is_told_its_blocks_in_bytes_which_both_systems_take(
    host: LinuxPrograms | MacPrograms, level: str | None, block_bytes: int
) -> None:
    move = replace(COPY, options={"bs": level} if level else {})
    assert workloads.tool("dd").argv(host.call("dd"), "", move) == ("dd", "if=/a", "of=/b", f"bs={block_bytes}")


@pytest.mark.parametrize("value", ["256 B", "1000", "2 GiB", True, "many", -1])
def test_dd_takes_no_block_that_is_none_of_a_disk(value: object) -> None:
    with pytest.raises(ValueError, match="is not"):
        workloads.tool("dd").options["bs"].level(value)


def test_every_option_of_a_tool_takes_its_own_default_and_belongs_to_no_protocol() -> None:
    for name, tool in workloads.tools().items():
        assert tool.name == name
        assert not tool.options or name not in protocols.by_name()
        for option in tool.options.values():
            number = int(option.default) if option.default.isdigit() else option.default
            assert option.level(number) == option.default


@pytest.mark.parametrize(("printed", "version"), [
    ("tar (GNU tar) 1.35\nCopyright\n", "GNU tar 1.35"),
    ("bsdtar 3.5.3 - libarchive 3.7.4 zlib/1.2.12\n", "bsdtar 3.5.3"),
    ("tar (busybox) 1.36.1\n", "busybox 1.36.1"),
    ("star 1.6\n", ""),
])  # fmt: skip
def test_a_tar_says_which_it_is_and_one_that_nobody_knows_is_refused(printed: str, version: str) -> None:
    refusal = pytest.raises(Unsupported, match="tar --version: it is neither GNU's nor BSD's tar")
    with nullcontext() if version else refusal:
        assert version_of("tar", ("tar",), printed) == version


# Stands for ssh: two options, the host, and a command for its shell
REMOTE_SHELL = 'shift 2; [ "$1 $2" = "-- me@nas" ] || exit 9; shift 2; exec sh -c "$*"'


@pytest.mark.parametrize(("source", "target"), [("", ""), ("me@nas:", ""), ("", "me@nas:")])
@pytest.mark.parametrize("is_folder", [True, False])
def test_tar_moves_a_folder_or_a_file_either_way(tmp_path: Path, source: str, target: str, is_folder: bool) -> None:
    here, there = tmp_path / 'it\'s a "path" $HOME', tmp_path / "o'ther `x`"
    (here / "top" if is_folder else here).mkdir(parents=True)
    (here / "top/file" if is_folder else here / "top").write_text("content")
    there.mkdir()
    script = tmp_path / "remote shell"
    script.write_text(REMOTE_SHELL)
    shell = shlex.join(["sh", str(script), "-p", "a b"]) if source or target else ""
    move = Move(source=f"{source}{here}/top", target=f"{target}{there}/top", size_bytes=7, remote_shell=shell)
    argv = workloads.tool("tar").argv(("tar",), "", move)
    result = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert (there / "top/file" if is_folder else there / "top").read_text() == "content"


@pytest.mark.parametrize(("source", "target"), [("none", "other"), ("one", "none/other")])
def test_tar_fails_where_either_end_does(tmp_path: Path, source: str, target: str) -> None:
    (tmp_path / "one").mkdir()
    move = Move(source=f"{tmp_path}/{source}", target=f"{tmp_path}/{target}/x", size_bytes=7)
    argv = workloads.tool("tar").argv(("tar",), "", move)
    assert subprocess.run(argv, capture_output=True, timeout=30, check=False).returncode != 0


def test_a_deadline_grows_with_the_payload() -> None:
    assert deadline_s(0) > 0
    assert deadline_s(10**9) - deadline_s(0) >= 10**9 / 2e6
