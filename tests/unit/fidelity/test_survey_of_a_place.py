"""One place from laying to verdict: its tools and scripts run here, its share is a folder."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.surveyed_place import KEPT_BY_ALL, Here, Place, verdict

from lab.base.errors import HostLost, LabFailure
from lab.design.factors import Direction
from lab.fidelity import copiers, probes
from lab.fidelity.copies import Copy, Judgement, Verdict, View
from lab.fidelity.place_survey import MOUNT_ENDED
from lab.fidelity.places import Asked
from lab.fidelity.probes import PROBES
from lab.fidelity.survey import estimate
from lab.hosts import Result, Role
from lab.results.run_folder import RunFolder

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


@pytest.mark.parametrize(
    ("times", "expected"), [("once", Verdict.KEPT), ("always", Verdict.UNSEEN)], ids=["once", "always"]
)
def test_a_source_that_a_tool_could_not_read_is_read_again_and_blames_no_share(
    place: Place, monkeypatch: pytest.MonkeyPatch, times: str, expected: Verdict
) -> None:
    """As rsync 3.5.0 on a busy machine: https://github.com/RsyncProject/rsync/issues/1087"""
    first = f'mkdir "{place.store}/once" 2>/dev/null' if times == "once" else "true"
    error = 'rsync: [sender] opendir "name-case" failed: Too many levels of symbolic links (40)'
    script = f'case $1 in */name-case) if {first}; then echo \'{error}\' >&2; exit 23; fi;; esac; cp -a "$1" "$2"'
    tool = replace(copiers.find("cp"), argv={"linux": ("sh", "-c", script, "sh")})
    monkeypatch.setitem(copiers.BY_NAME, "cp", tool)
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp"], directions=["write"])
    (copy,) = place.survey().values()
    judgement = copy.judgement(next(probe for probe in PROBES if probe.name == "name-case"))
    assert judgement == Judgement(expected, "" if times == "once" else error)
    assert {verdict(copy, name) for name in KEPT_BY_ALL if name != "name-case"} == {Verdict.KEPT}


@pytest.mark.parametrize(
    ("error", "expected"),
    [("Invalid argument", Verdict.REFUSED), ("Stale file handle", Verdict.UNSEEN)],
)
def test_what_a_share_does_not_give_is_refused_and_an_error_of_its_connection_is_not(
    place: Place, monkeypatch: pytest.MonkeyPatch, error: str, expected: Verdict
) -> None:
    said = f"cp: cannot open $1/NAME for reading: {error}"
    script = f'case $1 in */name-case) echo "{said}" >&2; exit 1;; esac; cp -a "$1" "$2"'
    tool = replace(copiers.find("cp"), argv={"linux": ("sh", "-c", script, "sh")})
    monkeypatch.setitem(copiers.BY_NAME, "cp", tool)
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp"], directions=["read"])
    (copy,) = place.survey().values()
    judgement = copy.judgement(next(probe for probe in PROBES if probe.name == "name-case"))
    how = f"cp: cannot open …/name-case/NAME for reading: {error}; kept through the mount"
    assert judgement == Judgement(expected, how)


class Unsteady(Here):
    """A host that cannot read some probes, or loses its connection, the first ``times`` that it reads."""

    def __init__(self, role: Role, times: int, lost: bool = False):
        super().__init__(role)
        self.times, self.lost = times, lost

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        result = super()._execute(argv, root, given, deadline_s, stop_mark)
        if argv[-1] != "read" or not self.times:
            return result
        self.times -= 1
        if self.lost:
            raise HostLost("the connection broke", host=self.name)
        content = json.loads(result.stdout)
        content["readings"] |= {name: {"is": ["error", "Stale file handle"]} for name in ("data", "name-newline")}
        return replace(result, stdout=json.dumps(content))


@pytest.mark.parametrize(
    ("times", "lost", "expected"),
    [(1, False, Verdict.KEPT), (1, True, Verdict.KEPT), (99, False, Verdict.UNSEEN)],
)
def test_a_copy_that_could_not_be_read_is_read_again_and_is_not_lost(
    place: Place, times: int, lost: bool, expected: Verdict
) -> None:
    hosts = cast(dict[Role, Any], place.pair.hosts)
    hosts[Role.SERVER] = Unsteady(Role.SERVER, times, lost)
    place.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp-a"], directions=["write"])
    (copy,) = place.survey().values()
    on_store = copy.views[View.STORE]
    assert {on_store[name].verdict for name in ("data", "name-newline")} == {expected}
    assert on_store["fifo"].verdict is Verdict.KEPT
    assert verdict(copy, "data") is Verdict.KEPT  # the client read it


def test_a_connection_that_stays_broken_is_the_reason_that_nothing_is_told(place: Place) -> None:
    hosts = cast(dict[Role, Any], place.pair.hosts)
    hosts[Role.SERVER] = Unsteady(Role.SERVER, 99, lost=True)
    with pytest.raises(HostLost, match="the connection broke"):
        place.survey()


def test_a_survey_says_how_long_it_takes_by_the_newest_one_of_its_hosts(tmp_path: Path) -> None:
    hosts_file = tmp_path / "nas.ini"
    assumed = "8 copies of all probes, over 2 shares; estimated at 10 s a copy: 1 min (80 s)"
    assert estimate(8, 2, tmp_path, hosts_file) == assumed
    for name, about in {"0": {"hosts_file": str(hosts_file)}, "1": {"hosts_file": "other.ini"}}.items():
        run = {"started_at": "2026-11-29T10:00:00+00:00", "finished_at": "2026-11-29T10:01:00+00:00"}
        folder = RunFolder.create(tmp_path, f"fidelity{name}", run | about)
        (folder.path / "fidelity.json").write_text('{"copies": [{}, {}]}')
        if name == "0":
            newest = folder
    by_newest = f"1 copy of all probes, over 1 share; estimated by {newest.path}: 0 min (30 s)"
    assert estimate(1, 1, tmp_path, hosts_file) == by_newest
    newest.update(finished_at=None)
    assert estimate(8, 2, tmp_path, hosts_file) == assumed


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
