"""What the fault matrix calls lost or wrong among the trials of a run that it broke."""

import json
from pathlib import Path
from typing import Any

import pytest
from faults import trials

ROW: dict[str, Any] = {
    "trial_id": "b001-0001", "protocol": "smb", "direction": "write", "mtu": 9000, "size_bytes": 100, "elapsed_s": 0.1,
    "wire_tx_bytes": 110, "wire_rx_bytes": 9, "verified": True, "status": "ok",
    "effective": {"client_mtu": "9000", "server_mtu": "9000", "client_tcp_rmem": "1 2 3", "mount": "gvfs"},
}  # fmt: skip


def kept(folder: Path, *lines: Any) -> trials.Kept:
    """What a run folder with these lines keeps."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "trials.jsonl").write_text("".join(f"{text}\n" for text in texts))
    return trials.read(folder)


def test_lines_that_are_torn_twice_changed_or_missing_are_lost_trials(tmp_path: Path) -> None:
    one, two, slots = ROW, ROW | {"trial_id": "b001-0002"}, {"b001-0001", "b001-0002"}
    first = kept(tmp_path, one)
    assert trials.lost(first, kept(tmp_path, one, two), slots) == []
    assert trials.lost(first, kept(tmp_path, one), slots) == ["b001-0002 is missing"]
    assert trials.lost(first, kept(tmp_path, one, two, one), slots) == ["b001-0001 stands there 2 times"]
    assert trials.lost(first, kept(tmp_path, two, one), slots) == ["lines that stood there have changed"]
    assert "is torn" in trials.lost(first, kept(tmp_path, one, '{"trial_id": "b001', two), slots)[0]


@pytest.mark.parametrize(
    "change",
    [
        {"verified": False}, {"elapsed_s": None}, {"wire_tx_bytes": 99}, {"wire_tx_bytes": None}, {"mtu": 1500},
        {"effective": ROW["effective"] | {"server_mtu": "1500"}}, {"effective": ROW["effective"] | {"mount": "none"}},
    ],
)  # fmt: skip
def test_an_ok_that_cannot_be_is_wrong(tmp_path: Path, change: dict[str, Any]) -> None:
    usual, good, bad = {"b001-0001": ROW}, kept(tmp_path, ROW), kept(tmp_path, ROW | change)
    assert trials.wrong(good, good, usual, None) == []
    assert len(trials.wrong(good, good, usual, "b001-0001")) == 1
    assert len(trials.wrong(bad, bad, usual, None)) >= 1
    failed = kept(tmp_path, ROW | change | {"status": "failed"})
    assert trials.wrong(failed, failed, usual, "b001-0001") == []


@pytest.mark.parametrize("protocol", ["link", "store"])
def test_a_ceiling_need_only_have_been_measured(tmp_path: Path, protocol: str) -> None:
    unlike: dict[str, Any] = {"verified": None, "wire_tx_bytes": None, "effective": {}}
    good = kept(tmp_path, ROW | unlike | {"protocol": protocol})
    assert trials.wrong(good, good, {}, None) == []
    empty = kept(tmp_path, ROW | unlike | {"protocol": protocol, "elapsed_s": 0})
    assert trials.wrong(empty, empty, {}, None) == ["b001-0001: nothing was measured"]
