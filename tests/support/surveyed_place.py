"""A place to survey: its tools and scripts run here, and its share is a folder."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from lab.fidelity.copies import Copy, Verdict
from lab.fidelity.place_survey import PlaceSurvey
from lab.fidelity.places import Asked, list_places, make_sweep
from lab.fidelity.probes import PROBES
from lab.hosts import Result, Role
from lab.protocols import Attached
from support.fake_host import LocalHost
from support.pairs import hosts_model, pair_of, side_of

KEPT_BY_ALL = ("data", "plain-folder", "name-newline", "name-case")


class Here(LocalHost):
    """This machine, with the Python of the tests."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        words = [sys.executable if word == "python3" else word for word in argv]
        environment = os.environ | {"LC_ALL": "C"}
        done = subprocess.run(words, input=given, capture_output=True, text=True, env=environment, timeout=deadline_s)
        return Result(argv, done.returncode, done.stdout, done.stderr, 0.0)


class Place:
    """A share in a folder, mounted by a link; ``remounting`` is called at each mount."""

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
        self.session: Any = SimpleNamespace(pair=self.pair, set_up=self.set_up, mount_anew=self.mount_anew)
        self.session.mounting = SimpleNamespace(failed=[])
        self.session.settings = SimpleNamespace(connections=SimpleNamespace(ensure=lambda _: None))
        self.session.drop_lost_mount = self.drop_lost_mount
        self.asked = Asked(protocols=["smb"], stores=["disk"], tools=["cp", "cp-a"])

    def set_up(self, _: object) -> Any:
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
        """As the engine's: a mount that exists stays, and the third loss is too many."""
        if self.mount.exists():
            return False
        self.session.mounting.failed.append(str(error))
        self.mount.symlink_to(self.store)
        return len(self.session.mounting.failed) < 3

    def survey(self) -> dict[tuple[str, str], Copy]:
        (place_case,) = list_places(make_sweep(self.asked, self.pair.config, 1500))
        surveyed = PlaceSurvey(cast(Any, self.session), place_case, self.asked.copiers, None, 0)
        return {(copy.tool, copy.direction.value): copy for copy in surveyed.run(self.asked)}


def verdict(copy: Copy, name: str) -> Verdict:
    return copy.judgement(next(probe for probe in PROBES if probe.name == name)).verdict
