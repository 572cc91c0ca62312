"""ksmbd between two guests whose kernel has it: it serves, also in turn with Samba, and leaves nothing behind."""

import platform
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from support.guests import MIB, left, skip_unless_it_boots
from support.local_lab import Bench, succeeded

from lab.local import guest_kernels

ONLY = f"guests are for {guest_kernels.MACHINE} only"
pytestmark = pytest.mark.skipif(platform.machine() != guest_kernels.MACHINE, reason=ONLY)
BY_KSMBD: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp"], "smb.server": ["ksmbd"]}
TRACES = "lsmod | grep ksmbd; ss -Htln sport = :445; ls -d /run/ksmbd.lock /etc/ksmbd 2>/dev/null || :"


@pytest.fixture(scope="module")
def booted(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench("--kernel", "own", "--backend", skip_unless_it_boots("tcg"))


@pytest.fixture
def guests(booted: Bench) -> Iterator[Bench]:
    """The guests without results; both must be unchanged afterwards."""
    shutil.rmtree(booted.directory / "results", ignore_errors=True)
    before = left(booted)
    assert booted.inside("server", TRACES) == ""
    yield booted
    assert booted.inside("server", TRACES) == ""
    assert left(booted) == before


def test_the_kernels_cifs_mounts_it_by_both_dialects_signed_and_not(guests: Bench) -> None:
    """Every trial that is ok has verified its content."""
    options: dict[str, Any] = {"smb.dialect": ["2.1", "3.1.1"], "smb.signing": [True, False]}
    trials = guests.measure(**BY_KSMBD, **options, server_sync=["sync"])
    assert len(trials) == 8
    for trial in trials:
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        # headers of 52 to 66 bytes in each frame of up to 1500, and those of the protocol
        assert 4 * MIB * 1.035 < moved < 4 * MIB * 1.1, trial
        effective = trial["effective"]
        asked = {name: level for name, level in trial["options"].items() if "." in name}
        assert asked == {name: effective[name] for name in asked}
        assert (effective["mount"], effective["dialect"]) == ("kernel", f"SMB {asked['smb.dialect']}")
        assert (effective["server_sync"], effective["server_sync_by"]) == ("sync", "ksmbd, which has no setting for it")


def test_it_and_samba_serve_at_one_port_one_after_the_other(guests: Bench) -> None:
    trials = guests.measure(**BY_KSMBD | {"smb.server": ["samba", "ksmbd"]}, blocks=2, size="1 MiB")
    served = [trial["effective"]["smb.server"] for trial in trials]
    assert len(served) == 8
    assert set(pairwise(served)) >= {("samba", "ksmbd"), ("ksmbd", "samba")}


def test_gvfs_mounts_it_too(guests: Bench) -> None:
    trials = guests.measure(**BY_KSMBD | {"smb.client": ["gvfs"]}, size="1 MiB")
    assert {trial["effective"]["mount"] for trial in trials} == {"gvfs"}


def test_what_it_cannot_do_is_left_out(guests: Bench) -> None:
    options: dict[str, Any] = {"smb.dialect": ["2.0.2", "3.0.2"], "server_sync": ["default", "async"]}
    done = succeeded(guests.run(**BY_KSMBD, **options, direction=["write"], size="1 MiB"))
    assert "ksmbd speaks no SMB below 2.1" in done.stderr
    assert "ksmbd flushes when a client asks for it, and cannot be told otherwise" in done.stderr
    (trial,) = guests.trials()
    assert (trial["effective"]["smb.dialect"], trial["status"]) == ("3.0.2", "ok")


def test_one_that_is_loaded_already_is_left_to_its_owner(guests: Bench) -> None:
    with guests.changed("server", "modprobe ksmbd", "modprobe -r ksmbd"):
        assert "server: ksmbd is loaded already" in guests.refused_run(1, **BY_KSMBD)
        assert guests.inside("server", "cut -d ' ' -f 1,2 /sys/class/ksmbd-control/stats") == "2 startup\n"


def test_a_killed_run_leaves_what_restore_puts_back(guests: Bench) -> None:
    guests.kill_run("mount -t cifs", **BY_KSMBD, direction=["write"], size="64 MiB")
    guests.wait_until_free()
    assert guests.inside("server", "cut -d ' ' -f 2,3 /sys/class/ksmbd-control/stats") == "running 445\n"
    guests.check_output("restore", "--hosts", str(guests.hosts))
