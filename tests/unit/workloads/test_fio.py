"""fio: what it is told, what is read of its report, and which versions will not do."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_host import FakeHost
from support.paths import LINUX_CAPTURES
from support.sweeps import cases_of, sweep_of

from lab import workloads
from lab.base.errors import LabFailure, TransferError, Unsupported
from lab.design.factors import Direction
from lab.platforms.linux.files import LinuxPrograms
from lab.platforms.macos.files import MacPrograms
from lab.results.observed import Observed
from lab.workloads import Move
from lab.workloads.fio import PERCENTILES, parse_report

FIO = workloads.tool("fio")
LINUX, MAC = LinuxPrograms(FakeHost()), MacPrograms(FakeHost())
WRITE = Move(source="/ram/a", target="/run/gvfs/smb-share:server=b,share=c/x", size_bytes=8 << 20)
READ = replace(WRITE, source="/mnt/a", target="/ram/b", direction=Direction.READ)


def capture(name: str) -> str:
    return (LINUX_CAPTURES / f"fio-{name}.json").read_text()


def test_requests_go_past_the_cache_and_what_is_written_is_verified_afterwards() -> None:
    argv = FIO.argv(LINUX.call("fio"), "fio-3.33", replace(WRITE, options={"jobs": "4", "iodepth": "8"}))
    assert argv[:2] == ("fio", "--ioengine=libaio")
    assert {"--rw=randwrite", "--bs=4096", "--direct=1", "--numjobs=4", "--iodepth=8", "--size=2097152"} < {*argv}
    assert {"--offset_increment=2097152", r"--filename=/run/gvfs/smb-share\:server=b,share=c/x"} < {*argv}
    assert "--ioengine=posixaio" in FIO.argv(MAC.call("fio"), "fio-3.36", READ)
    call = LINUX.call("fio")
    timed, checked = FIO.argv(call, "", WRITE), FIO.verification(call, "", WRITE)
    assert {"--do_verify=0", "--verify=crc32c"} < {*timed}
    assert set(checked) - set(timed) == {"--verify_only=1"}
    assert FIO.lay_out(call, "", WRITE)[-4:] == ("lay", "0", WRITE.source, WRITE.target)
    assert (FIO.lay_out(call, "", READ), FIO.verification(call, "", READ)) == ((), ())
    words = FIO.argv(call, "", READ)
    assert "--filename=/mnt/a" in words
    assert not [word for word in words if "verify" in word]


@pytest.mark.parametrize(("name", "ways"), [("read", {"read"}), ("write", {"write"}), ("mixed", {"read", "write"})])
def test_a_real_report_is_read(name: str, ways: set[str]) -> None:
    requests = parse_report(f"note: something of fio's\n{capture(name)}\n")
    by_way = {way: getattr(requests, way) for way in ("read", "write") if getattr(requests, way)}
    assert by_way.keys() == ways
    job = json.loads(capture(name))["jobs"][0]
    for way, of_way in by_way.items():
        assert of_way.iops == pytest.approx(job[way]["iops"], rel=1e-3)
        assert of_way.bytes_per_s == pytest.approx(job[way]["bw_bytes"], rel=1e-3)
        assert of_way.p99_ms == job[way]["lat_ns"]["percentile"]["99.000000"] / 1e6
        assert 0 < of_way.p50_ms <= of_way.p95_ms <= of_way.p99_ms <= of_way.p999_ms
    assert sum(of_way.bytes for of_way in by_way.values()) == 8 << 20


counts = st.integers(1, 1 << 40)


@given(data=st.data(), version=st.integers(0, 99), requests=counts, runtime_ms=st.integers(1, 10**7))
def test_a_report_comes_to_its_own_numbers(data: st.DataObject, version: int, requests: int, runtime_ms: int) -> None:
    times = sorted(data.draw(st.lists(counts, min_size=4, max_size=4)))
    moved = data.draw(st.integers(1, min(1 << 50, 125 * 10**6 * runtime_ms)))
    latency = {"max": times[-1], "percentile": dict(zip(PERCENTILES, times, strict=True))}
    none: dict[str, Any] = {"total_ios": 0, "io_bytes": 0, "runtime": 0, "lat_ns": {"max": 0}}
    way = {"total_ios": requests, "io_bytes": moved, "runtime": runtime_ms, "lat_ns": latency}
    report = {"fio version": f"fio-3.{version}", "jobs": [{"error": 0, "read": none, "write": way}]}
    read = parse_report(json.dumps(report)).write
    assert read is not None
    assert (read.requests, read.bytes, read.runtime_s) == (requests, moved, runtime_ms / 1000)
    assert [read.p50_ms, read.p95_ms, read.p99_ms, read.p999_ms] == [time / 1e6 for time in times]


@pytest.mark.parametrize(("change", "message"), [
    ({"fio version": "fio-2.16"}, "none of fio 3"),
    ({"jobs": []}, "not enough values"),
    ({"jobs": [{"error": 5}]}, "ended with error 5"),
    ({"jobs": [{"error": 0}]}, "KeyError"),
])  # fmt: skip
def test_a_report_that_cannot_be_true_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_report(json.dumps(json.loads(capture("read")) | change))


def test_what_is_no_report_or_tells_of_fewer_bytes_fails_the_trial() -> None:
    with pytest.raises(LabFailure, match="fio: its report cannot be true"):
        FIO.read_report("fio: command line option error", READ)
    with pytest.raises(TransferError, match="moved 8388608 of 16777216 bytes"):
        FIO.read_report(capture("read"), replace(READ, size_bytes=16 << 20))
    assert FIO.read_report(capture("read"), READ) == Observed(requests=parse_report(capture("read")))


FIO_3 = ("fio-3.18", "fio-3.33", "fio-3.36-dirty", "fio-3.41-12-gabc")


@pytest.mark.parametrize(
    "printed",
    [*FIO_3, "fio-2.16", "fio-3.16", "fio-3.17-dirty", "fio-4.1", "fio version 3.33", "", "fio-3.33; rm -rf /"],
)
def test_fio_from_3_18_on_will_do_and_another_version_is_refused_with_what_to_do(printed: str) -> None:
    host, call = FakeHost(), LINUX.call("fio")
    host.on(("fio", "--version"), f"{printed}\n")
    if printed in FIO_3:
        assert FIO.version(host, call) == printed
    else:
        with pytest.raises(Unsupported, match=r"needs fio 3\.18 or a later 3\.x: install that there"):
            FIO.check(host, call)


def test_what_fio_cannot_do_is_left_out_and_why() -> None:
    fio = {"rw": ["random", "mixed"], "jobs": [1, 3]}
    made, left_out = cases_of(sweep_of(size="1 MiB", tool=["fio"], fio=fio))
    cases = [(case.tool_options["rw"], str(case.direction)) for case in made]
    assert cases == [("random", "write"), ("mixed", "write"), ("random", "read")]
    assert left_out == (
        "fio with a size of 1048576 bytes: it is no multiple of 3 × 4096 bytes",
        "fio with direction read and rw mixed: that writes, too, and is a trial of direction write",
    )
