"""One place from laying to verdict: its tools and scripts run here, its share is a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.pairs import hosts_model, pair_of
from support.sides import side_of

from lab.base.errors import LabFailure
from lab.design.factors import Direction
from lab.fidelity import copiers, probes
from lab.fidelity.copies import Copy, View
from lab.fidelity.places import Asked, list_stands, make_sweep
from lab.fidelity.probes import PROBES
from lab.fidelity.stand_survey import MOUNT_ENDED, StandSurvey
from lab.fidelity.verdicts import Verdict
from lab.hosts import Host, Result, Role
from lab.protocols import Attached

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the script sets attributes of Linux")
KEPT_BY_ALL = ("data", "plain-folder", "name-newline", "name-case")
SOME = (*KEPT_BY_ALL, "plain-file", "plain-link", "mtime-seconds", "mtime-nanoseconds", "birth", "hard-link", "fifo")


class Here(Host):
    """This machine, whose python3 is that of the tests."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        words = [sys.executable if word == "python3" else word for word in argv]
        environment = os.environ | {"LC_ALL": "C"}
        done = subprocess.run(words, input=given, capture_output=True, text=True, env=environment, timeout=deadline_s)
        return Result(argv, done.returncode, done.stdout, done.stderr, 0.0)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """It is always there."""
        take_over()

    def close(self) -> None:
        """Nothing to let go of."""


class Place:
    """A share in a folder, mounted by a link; ``remounting`` is what happens to it then."""

    def __init__(self, folder: Path, **share: str | None):
        self.store, self.client, self.mount = (folder / name for name in ("store", "client", "mnt"))
        for path in (self.store, self.client):
            path.mkdir()
        self.mount.symlink_to(self.store)
        self.mounts = 0
        self.remounting: Callable[[], None] = lambda: None
        hosts: dict[str, Any] = {role: Here(role) for role in Role}
        config = hosts_model(share=share or {"serve": "lab"})
        sides: dict[str, Any] = {
            role: side_of(hosts[role], "linux", "192.0.2.1", str(path), "")
            for role, path in {Role.CLIENT: self.client, Role.SERVER: self.store}.items()
        }
        self.pair = pair_of(config, hosts=hosts, sides=sides, platforms={})
        self.session: Any = SimpleNamespace(pair=self.pair, stand=self.stand, mount_anew=self.mount_anew)
        self.session.mounting = SimpleNamespace(failed=[])
        self.session.drop_lost_mount = self.drop_lost_mount
        self.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp", "cp-a"])

    def stand(self, _: object) -> Any:
        share = SimpleNamespace(path=str(self.store), account="")
        attached = Attached(str(self.mount), effective={"mount": "kernel", "dialect": "SMB 3.1.1"})
        mount = SimpleNamespace(record=object(), attached=attached)
        return SimpleNamespace(share=share, folder=str(self.store), mount=mount, attached=attached)

    def mount_anew(self, _: object, always: bool) -> bool:
        assert always
        self.mounts += 1
        self.remounting()
        return True

    def drop_lost_mount(self, _: object, error: Exception) -> bool:
        """As the engine's: a mount that is there stays, and the third loss is one too many."""
        if self.mount.exists():
            return False
        self.session.mounting.failed.append(str(error))
        self.mount.symlink_to(self.store)
        return len(self.session.mounting.failed) < 3

    def survey(self) -> dict[tuple[str, str], Copy]:
        (stand,) = list_stands(make_sweep(self.asked, self.pair.config, 1500))
        surveyed = StandSurvey(cast(Any, self.session), stand, self.asked.copiers, None, 0)
        return {(copy.tool, copy.direction.value): copy for copy in surveyed.run(self.asked)}


@pytest.fixture(autouse=True)
def _some_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a process for every copy."""
    monkeypatch.setattr(probes, "ALL", tuple(probe for probe in probes.ALL if probe.name in SOME))
    assert len(probes.ALL) == len(SOME)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def verdict(copy: Copy, name: str) -> Verdict:
    return copy.judgement(next(probe for probe in PROBES if probe.name == name)).verdict


def test_both_ways_and_every_tool_are_looked_at_from_all_sides(place: Place) -> None:
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


def test_what_is_gone_after_the_remount_is_lost_though_a_cache_had_it(place: Place) -> None:
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp-a"], directions=["write"])
    place.remounting = lambda: os.utime(place.store / "cp-a-0" / "mtime-seconds" / "object")
    (copy,) = place.survey().values()
    judgement = copy.judgement(next(probe for probe in PROBES if probe.name == "mtime-seconds"))
    assert judgement.verdict is Verdict.LOST
    assert judgement.how.endswith("kept through the mount")


def ending(place: Place, at: str) -> str:
    """A script that copies, and at a probe ends the mount."""
    return f'case $1 in */{at}) rm "{place.mount}"; esac; cp -a "$1" "$2"'


def with_tool(place: Place, monkeypatch: pytest.MonkeyPatch, script: str) -> Copy:
    tool = replace(copiers.find("cp"), argv={"linux": ("sh", "-c", script, "sh")})
    monkeypatch.setitem(copiers.BY_NAME, "cp", tool)
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp"], directions=["write"])
    (copy,) = place.survey().values()
    return copy


def test_a_probe_at_which_the_mount_ends_twice_is_refused_and_keeps_no_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = with_tool(place, monkeypatch, ending(place, "hard-link"))
    judgement = copy.judgement(next(probe for probe in PROBES if probe.name == "hard-link"))
    assert (judgement.verdict, judgement.how) == (Verdict.REFUSED, MOUNT_ENDED)
    assert {verdict(copy, name) for name in (*KEPT_BY_ALL, "fifo")} == {Verdict.KEPT}


def test_a_mount_that_ends_once_costs_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    once = f'mkdir "{place.store}/once" 2>/dev/null && rm "{place.mount}"'
    once = f'case $1 in */hard-link) {once};; esac; cp -a "$1" "$2"'
    assert verdict(with_tool(place, monkeypatch, once), "hard-link") is Verdict.KEPT


def test_a_mount_that_ends_at_every_probe_is_a_failure(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LabFailure, match="the mount ended while the tool copied a probe"):
        with_tool(place, monkeypatch, ending(place, "*"))


def test_reads_come_through_a_mount_made_anew(place: Place) -> None:
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp"], directions=[Direction.READ])
    assert len(place.survey()) == place.mounts == 1


def test_a_share_that_no_login_leads_to_is_only_written_to(tmp_path: Path) -> None:
    place = Place(tmp_path, mounted="/mnt/share", serve="existing", account=None, path=None)
    assert place.pair.config.through_mount
    copies = place.survey()
    assert {way for _, way in copies} == {"write"}
    assert all(View.STORE not in copy.views for copy in copies.values())


def test_a_protocol_without_a_mount_takes_no_tool_that_needs_one(place: Place) -> None:
    place.asked = Asked(protocols=["ssh"], stores=["disk"], tools=["cp"])
    place.session.stand = None  # nothing is stood up for nothing
    assert place.survey() == {}
    assert {copier.name for copier in copiers.COPIERS if not copier.needs_mount} == {"rsync-a", "rsync-all"}
