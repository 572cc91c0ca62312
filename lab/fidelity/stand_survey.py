"""One place: every tool copies the probes there and back, and each copy is looked at from all sides."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from lab.base.errors import CommandError, LabFailure
from lab.base.present import present
from lab.base.untrusted import one_line
from lab.design.factors import Direction
from lab.fidelity import host_scripts
from lab.fidelity.copiers import Copier, Engine
from lab.fidelity.copies import Copy, Ends, Judge, Judgement, View
from lab.fidelity.host_scripts import CopyCall, Snapshot
from lab.fidelity.places import Asked, Stand, copiers_for
from lab.fidelity.probes import Probe, laid_on, readable
from lab.hosts import Host, Role
from lab.run.case.session import Session
from lab.run.case.setup import Setup

MOUNT_ENDED = "the mount ended while the tool copied a probe"


@dataclass(frozen=True)
class Written:
    """A copy into the share. ``name`` is its folder there; ``early`` what the client saw before the remount."""

    copier: Copier
    name: str
    failures: Mapping[str, str]
    early: Snapshot | None


@dataclass
class StandSurvey:
    """Surveys a place. ``number`` is its own among those of a run, and part of its folders' names."""

    session: Session
    stand: Stand
    copiers: Sequence[Copier]
    engine: Engine | None
    number: int
    _standing: Setup | None = field(default=None, init=False)
    _ends: Ends | None = field(default=None, init=False)

    def run(self, asked: Asked) -> list[Copy]:
        """Every copy that is asked for. Raises LabFailure."""
        copiers = copiers_for(self.stand.place.protocol, self.copiers)
        if not copiers:
            return []
        self._standing = self.session.set_up(self.stand.case)
        self._ends = self._look_at_ends()
        copies = self._write(copiers) if asked.goes(Direction.WRITE) else []
        if asked.goes(Direction.READ) and not self.session.pair.config.through_mount:
            copies += self._read(copiers)
        return copies

    @property
    def setup(self) -> Setup:
        """What stands for the place now."""
        return present(self._standing)

    @property
    def client(self) -> Host:
        """The client."""
        return self.session.pair.hosts[Role.CLIENT]

    # --- folders

    def _in_share(self, name: str) -> str:
        """A folder in the share, as the client or its remote shell names it."""
        attached, share = self.setup.attached, self.setup.share
        return f"{attached.path}{self.setup.folder.removeprefix(share.path)}/{name}"

    def _on_client(self, name: str) -> str:
        return f"{self.session.pair.sides[Role.CLIENT].directory}/{name}"

    def _on_server(self, name: str) -> str:
        return f"{self.setup.folder}/{name}"

    def _remount(self) -> bool:
        """Have the client mount the share anew; False where the mount is none of the lab's, or none at all."""
        if self.setup.mount.record is None or self.setup.attached.remote_shell:
            return False
        if not self.session.mount_anew(self.setup, always=True):
            self._standing = self.session.set_up(self.stand.case)
        return True

    # --- client to server

    def _write(self, copiers: Sequence[Copier]) -> list[Copy]:
        source, account = self._on_client(f"probes-{self.number}"), self.session.pair.sides[Role.CLIENT].user
        platform = self._platform(Role.CLIENT)
        refused = host_scripts.lay(self.client, platform, source, account)
        original = host_scripts.read(self.client, platform, source, laid_on(platform))
        written = [self._write_by(copier, source) for copier in copiers]
        remounted = self._remount()
        copies = []
        for one in written:
            snapshots = self._look_at(one, remounted)
            judge = Judge(original.readings, refused, one.failures)
            views = {view: _judge_all(judge, snapshot, platform) for view, snapshot in snapshots.items()}
            debris = (snapshots.get(View.STORE) or list(snapshots.values())[-1]).debris
            copies.append(self._copy(one.copier, Direction.WRITE, views, debris))
        self._remove(source)
        return copies

    def _look_at(self, written: Written, remounted: bool) -> dict[View, Snapshot]:
        """A copy in the share from every side."""
        pair, snapshots = self.session.pair, {}
        if written.early:
            snapshots[View.MOUNT] = written.early
        if Role.SERVER in pair.roles and not pair.config.through_mount:
            platform = self._platform(Role.SERVER)
            probes = readable(self._platform(Role.CLIENT), platform)
            folder = self._on_server(written.name)
            snapshots[View.STORE] = host_scripts.read(pair.hosts[Role.SERVER], platform, folder, probes, as_root=True)
        if remounted:
            snapshots[View.REMOUNT] = self._read_in_share(written.name, Role.CLIENT)
        return snapshots

    def _write_by(self, copier: Copier, source: str) -> Written:
        name = f"{copier.name}-{self.number}"
        is_remote = bool(self.setup.attached.remote_shell)
        if is_remote:  # or a tool that copies nothing at all would leave nothing to look at
            self.session.pair.hosts[Role.SERVER].run("mkdir", "-p", "--", self._on_server(name))
        failures = self._copy_probes(copier, lambda: source, lambda: self._in_share(name), is_remote, Role.CLIENT)
        early = None if is_remote else self._read_in_share(name, Role.CLIENT)
        return Written(copier, name, failures, early)

    # --- server to client

    def _read(self, copiers: Sequence[Copier]) -> list[Copy]:
        name, server = f"probes-{self.number}", self.session.pair.hosts[Role.SERVER]
        platform, folder = self._platform(Role.SERVER), self._on_server(name)
        refused = host_scripts.lay(server, platform, folder, self.setup.share.account)
        original = host_scripts.read(server, platform, folder, laid_on(platform), as_root=True)
        self._remount()
        is_remote = bool(self.setup.attached.remote_shell)
        seen = None if is_remote else self._read_in_share(name, Role.SERVER)
        copies = []
        for copier in copiers:
            target = self._on_client(f"{copier.name}-{self.number}")
            failures = self._copy_probes(copier, lambda: self._in_share(name), partial(str, target), False, Role.SERVER)
            copied = self._read_here(target, Role.SERVER)
            views = {View.MOUNT: _judge_all(Judge(original.readings, refused, {}), seen, platform)} if seen else {}
            views[View.CLIENT] = _judge_all(Judge(original.readings, refused, failures), copied, platform)
            copies.append(self._copy(copier, Direction.READ, views, copied.debris))
            self._remove(target)
        return copies

    # --- both

    def _copy_probes(
        self, copier: Copier, source: Callable[[], str], target: Callable[[], str], is_remote: bool, laid_by: Role
    ) -> dict[str, str]:
        """Have a tool copy all probes; what it said, by the probe at which it failed.

        Where the mount ends meanwhile it is made anew, and the tool goes on with the probe at which that was; after a
        second time with the next one. Raises LabFailure where it ends again and again.
        """
        failures: dict[str, str] = {}
        names, last_stop = [probe.name for probe in laid_on(self._platform(laid_by))], ""
        self.session.mounting.failed.clear()
        while names:
            alive = "" if self.setup.attached.remote_shell else self._in_share("")
            call = CopyCall(self._words(copier), source(), target(), names, copier.onto, is_remote, alive)
            copied = host_scripts.copy(self.client, self._platform(Role.CLIENT), call)
            failures |= copied.failures
            if not copied.stopped:
                break
            self._mount_again(LabFailure(f"{MOUNT_ENDED} ({copied.stopped})", host=Role.CLIENT))
            names = names[names.index(copied.stopped) :]
            if copied.stopped == last_stop:
                failures[names.pop(0)] = MOUNT_ENDED
            else:
                failures.pop(copied.stopped, None)
            last_stop = copied.stopped
        return failures

    def _read_here(self, folder: str, laid_by: Role) -> Snapshot:
        """What the client sees of probes that a host has laid."""
        here = self._platform(Role.CLIENT)
        return host_scripts.read(self.client, here, folder, readable(self._platform(laid_by), here))

    def _read_in_share(self, name: str, laid_by: Role) -> Snapshot:
        """What the client sees of probes in the share; a mount that ends meanwhile is made anew."""
        self.session.mounting.failed.clear()
        while True:
            try:
                return self._read_here(self._in_share(name), laid_by)
            except CommandError as error:
                self._mount_again(error)

    def _mount_again(self, error: LabFailure) -> None:
        """Stand the place up again where its mount is gone. Raises the error where it is not, or was too often."""
        if not self.session.drop_lost_mount(self.stand.case, error):
            raise error
        self._standing = self.session.set_up(self.stand.case)

    def _words(self, copier: Copier) -> tuple[str, ...]:
        """What a tool is called by."""
        return copier.words(self._platform(Role.CLIENT), self.engine, self.setup.attached.remote_shell)

    def _platform(self, role: Role) -> str:
        """The platform of a host; of one without a login that of the client, for nothing is laid there."""
        return self.session.pair.sides[role if role in self.session.pair.roles else Role.CLIENT].platform

    def _copy(
        self,
        copier: Copier,
        direction: Direction,
        views: Mapping[View, Mapping[str, Judgement]],
        debris: Mapping[str, int],
    ) -> Copy:
        """A copy, with its command less the remote shell, which names keys of this run."""
        client, server = self._platform(Role.CLIENT), self._platform(Role.SERVER)
        platforms = (client, server) if direction is Direction.WRITE else (server, client)
        command = shlex.join(copier.words(client, self.engine, ""))
        return Copy(self.stand.place, present(self._ends), direction, copier.name, command, views, debris, platforms)

    def _look_at_ends(self) -> Ends:
        """What the copies of this place go through."""
        pair, effective = self.session.pair, self.setup.attached.effective
        server_store = ""
        if Role.SERVER in pair.roles and not pair.config.through_mount:
            server = pair.hosts[Role.SERVER], self._platform(Role.SERVER)
            server_store = host_scripts.name_file_system(*server, self.setup.folder)
        client = self.client, self._platform(Role.CLIENT)
        client_store = host_scripts.name_file_system(*client, pair.sides[Role.CLIENT].directory)
        mounted, dialect = (one_line(str(effective.get(name, "")), 40) for name in ("mount", "dialect"))
        return Ends(mounted or "somebody else", dialect, client_store, server_store)

    def _remove(self, folder: str) -> None:
        """Remove a copy in the lab's own folder on the client, which would fill it otherwise."""
        self.client.run("rm", "-rf", "--", folder, root=not (self.client.lacks_root or self.client.is_narrow))


def _judge_all(judge: Judge, snapshot: Snapshot, source: str) -> dict[str, Judgement]:
    """A judgement of each probe of the platform where it was laid that was read."""
    probes: list[Probe] = [probe for probe in laid_on(source) if probe.name in snapshot.readings]
    return {
        probe.name: judge.judge(probe, snapshot.readings[probe.name], snapshot.plain.get(probe.name))
        for probe in probes
    }
