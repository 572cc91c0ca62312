"""Every probe from laying to verdict, written and read by two tools."""

import sys
from pathlib import Path

import pytest
from support.surveyed_place import KEPT_BY_ALL, Place, verdict

from lab.fidelity.copies import Verdict, View


@pytest.mark.skipif(sys.platform != "linux", reason="the script sets attributes of Linux")
def test_both_ways_and_every_tool_are_looked_at_from_all_sides(tmp_path: Path) -> None:
    place = Place(tmp_path)
    copies = place.survey()
    assert set(copies) == {(tool, way) for tool in ("cp", "cp-a") for way in ("write", "read")}
    for (tool, way), copy in copies.items():
        views = {View.MOUNT, View.STORE, View.REMOUNT} if way == "write" else {View.MOUNT, View.CLIENT}
        assert set(copy.views) == views
        assert {verdict(copy, name) for name in KEPT_BY_ALL} == {Verdict.KEPT}
        assert verdict(copy, "mtime-nanoseconds") == (Verdict.KEPT if tool == "cp-a" else Verdict.LOST)
        assert verdict(copy, "birth") == Verdict.IMPOSSIBLE
        assert (copy.ends.mounted, copy.ends.dialect) == ("kernel", "SMB 3.1.1")
        assert copy.command == {"cp": "cp -R", "cp-a": "cp -a"}[tool]
    assert list(place.client.iterdir()) == []  # a RAM disk would soon be full
