"""The commands that move a payload, as each platform calls their programs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.fake_host import FakeHost

from lab import protocols, workloads
from lab.base.errors import Unsupported
from lab.platforms.linux.programs import LinuxPrograms
from lab.platforms.macos.programs import MacPrograms
from lab.workloads import Move
from lab.workloads.file import deadline_s

COPY = Move(source="/a", target="/b", size_bytes=1 << 20)
REMOTE = Move(source="/a", target="me@nas:/b", size_bytes=1 << 20, remote_shell="ssh -p 2")
LINUX, MAC = LinuxPrograms(FakeHost()), MacPrograms(FakeHost())


def test_tools_copy_every_byte_and_nothing_else() -> None:
    cp = workloads.tool("cp")
    assert cp.argv(LINUX.call("cp"), "", COPY) == (
        "cp",
        "--sparse=never",
        "--reflink=never",
        "--",
        "/a",
        "/b",
    )
    assert cp.argv(MAC.call("cp"), "", COPY) == ("cp", "-X", "--", "/a", "/b")
    rsync = workloads.tool("rsync")
    assert rsync.argv(LINUX.call("rsync"), "rsync 3.4.1, protocol 32", COPY) == (
        "rsync", "-W", "--inplace", "--", "/a", "/b",
    )  # fmt: skip
    assert rsync.argv(MAC.call("rsync"), "openrsync, protocol 29", REMOTE) == (
        "env", "CHOSEN_RSYNC=rsync_openrsync", "rsync", "-W", "--inplace", "-e", "ssh -p 2", "--", "/a", "me@nas:/b",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "flag"),
    [("rsync 2.6.9, protocol 29", "-aE"), ("openrsync, protocol 29", "-aE"), ("rsync 3.4.1, protocol 32", "-aX")],
)
def test_what_keeps_extended_attributes_depends_on_the_engine(version: str, flag: str) -> None:
    argv = workloads.tool("rsync-metadata").argv(MAC.call("rsync"), version, COPY)
    assert argv == ("env", "CHOSEN_RSYNC=rsync_openrsync", "rsync", "-W", "--inplace", flag, "--", "/a", "/b")


@pytest.mark.parametrize(
    ("printed", "engine"),
    [
        ("rsync  version 2.6.9  protocol version 29\n", "rsync 2.6.9, protocol 29"),
        ("openrsync: protocol version 29\nrsync version 2.6.9 compatible\n", "openrsync, protocol 29"),
    ],
)
def test_apples_rsyncs_are_told_to_use_the_cache_and_the_record_says_so(printed: str, engine: str) -> None:
    tool, call = workloads.tool("rsync-cache"), MAC.call("rsync")
    host = FakeHost()
    host.on((*call, "--version"), printed)
    version = tool.version(host, call)
    assert version == f"{engine}, --cache"
    assert tool.argv(call, version, COPY)[2:] == ("rsync", "-W", "--inplace", "--cache", "--", "/a", "/b")


def test_another_rsync_of_a_mac_is_refused_for_it_has_no_such_option() -> None:
    host, call = FakeHost(), MAC.call("rsync")
    host.on((*call, "--version"), "rsync  version 3.4.1  protocol version 32\n")
    with pytest.raises(Unsupported, match="protocol 32 knows no --cache: have macOS's own rsync come first"):
        workloads.tool("rsync-cache").version(host, call)


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


def test_a_deadline_grows_with_the_payload() -> None:
    assert deadline_s(0) > 0
    assert deadline_s(10**9) - deadline_s(0) >= 10**9 / 2e6
