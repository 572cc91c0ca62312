"""One place from laying to verdict: its tools and scripts run here, its share is a folder."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.surveyed_place import KEPT_BY_ALL, Place, verdict

from lab.base.errors import LabFailure
from lab.design.factors import Direction
from lab.fidelity import copiers, probes
from lab.fidelity.copies import Copy, Verdict, View
from lab.fidelity.place_survey import MOUNT_ENDED
from lab.fidelity.places import Asked
from lab.fidelity.probes import PROBES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the script sets attributes of Linux")
SOME = (*KEPT_BY_ALL, "plain-file", "plain-link", "mtime-seconds", "hard-link", "fifo")


@pytest.fixture(autouse=True)
def _some_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a process for every copy."""
    monkeypatch.setattr(probes, "ALL", tuple(probe for probe in probes.ALL if probe.name in SOME))
    assert len(probes.ALL) == len(SOME)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_is_gone_after_the_remount_is_lost_though_a_cache_had_it(place: Place) -> None:
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp-a"], directions=["write"])
    place.remounting = lambda: os.utime(place.store / "cp-a-0" / "mtime-seconds" / "object")
    (copy,) = place.survey().values()
    judgement = copy.judgement(next(probe for probe in PROBES if probe.name == "mtime-seconds"))
    assert (judgement.verdict, judgement.how[-22:]) == (Verdict.LOST, "kept through the mount")


def copied(place: Place, monkeypatch: pytest.MonkeyPatch, probe: str, before: str = "true") -> Copy:
    """Copied by a tool that removes the mount at a probe, if the command ``before`` succeeds."""
    script = f'case $1 in */{probe}) {before} && rm "{place.mount}";; esac; cp -a "$1" "$2"'
    tool = replace(copiers.find("cp"), argv={"linux": ("sh", "-c", script, "sh")})
    monkeypatch.setitem(copiers.BY_NAME, "cp", tool)
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp"], directions=["write"])
    (copy,) = place.survey().values()
    return copy


def test_a_probe_that_ends_the_mount_twice_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = copied(place, monkeypatch, "hard-link")
    judgement = copy.judgement(next(probe for probe in PROBES if probe.name == "hard-link"))
    assert (judgement.verdict, judgement.how) == (Verdict.REFUSED, MOUNT_ENDED)
    assert {verdict(copy, name) for name in (*KEPT_BY_ALL, "fifo")} == {Verdict.KEPT}


def test_a_mount_may_end_once_and_not_at_every_probe(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = copied(place, monkeypatch, "hard-link", f'mkdir "{place.store}/once" 2>/dev/null')
    assert verdict(copy, "hard-link") is Verdict.KEPT
    with pytest.raises(LabFailure, match="the mount ended while the tool copied a probe"):
        copied(place, monkeypatch, "*")


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
    place.session.set_up = None  # nothing is stood up for nothing
    assert place.survey() == {}
    assert {copier.name for copier in copiers.COPIERS if not copier.needs_mount} == {"rsync-a", "rsync-all"}
