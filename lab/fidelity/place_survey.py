"""One place: every tool copies the probes there and back, and each copy is looked at from all sides."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.base.errors import CommandError, LabFailure
from lab.base.untrusted import one_line
from lab.design.factors import Direction
from lab.fidelity.copiers import Copier, Engine
from lab.fidelity.copies import Copy, Ends, Judge, Judgement, View, Views
from lab.fidelity.places import Asked, PlaceCase, copiers_for
from lab.fidelity.probed_host import Copied, CopyCall, ProbedHost, Snapshot
from lab.fidelity.probes import ALL, Probe, laid_on, readable
from lab.hosts import Role
from lab.run.case.session import Session

# What a share answers about a file that it does not give; it is no error of reading
SAYS_NO = re.compile(r"Invalid argument|Permission denied|not permitted|No such file|[Nn]ame too long")
MOUNT_ENDED = "the mount ended while the tool copied a probe"


@dataclass(frozen=True)
class Written:
    """A copy into the share. ``name`` is its folder there; ``early`` is what the client saw before the remount."""

    copier: Copier
    name: str
    copied: Copied
    early: Snapshot | None


class PlaceSurvey:
    """Surveys a place. ``number`` is part of its folders' names, and no other place of the survey has it."""

    def __init__(
        self, session: Session, place_case: PlaceCase, copiers: Sequence[Copier], engine: Engine | None, number: int
    ):
        self.session, self.place, self.case = session, place_case.place, place_case.case
        self.copiers, self.engine, self.number = copiers_for(self.place.protocol, copiers), engine, number
        pair, is_reached = session.pair, Role.SERVER in session.pair.roles
        self.client = ProbedHost(pair.hosts[Role.CLIENT], pair.sides[Role.CLIENT].platform)
        # without a login, nothing is laid on the server, and its platform does not matter
        self.server_platform = pair.sides[Role.SERVER].platform if is_reached else self.client.platform
        sees_store = is_reached and not pair.config.through_mount
        self.server = ProbedHost(pair.hosts[Role.SERVER], self.server_platform) if sees_store else None

    def run(self, asked: Asked) -> list[Copy]:
        """Every copy that is asked for. Raises LabFailure."""
        if not self.copiers:
            return []
        self.setup = self.session.set_up(self.case)  # a mount that ends is replaced by a new one
        self.ends = self._look_at_ends()
        copies = self._write() if asked.goes(Direction.WRITE) else []
        if self.server and asked.goes(Direction.READ):
            copies += self._read(self.server)
        return copies

    @property
    def is_remote(self) -> bool:
        """Whether tools copy by a remote shell, without a mount."""
        return bool(self.setup.attached.remote_shell)

    def _in_share(self, name: str) -> str:
        """A folder in the share, as the client or its remote shell names it."""
        return f"{self.setup.attached.path}{self.setup.folder.removeprefix(self.setup.share.path)}/{name}"

    def _on_client(self, name: str) -> str:
        return f"{self.session.pair.sides[Role.CLIENT].directory}/{name}"

    def _on_server(self, name: str) -> str:
        return f"{self.setup.folder}/{name}"

    def _remount(self) -> bool:
        """Mount the share anew on the client; False if the lab has not mounted it."""
        if self.setup.mount.record is None or self.is_remote:
            return False
        if not self.session.mount_anew(self.setup, always=True):
            self.setup = self.session.set_up(self.case)
        return True

    def _write(self) -> list[Copy]:
        """Every copy from the client to the server."""
        source, account = self._on_client(f"probes-{self.number}"), self.session.pair.sides[Role.CLIENT].user
        refused = self.client.lay(source, account)
        original = self._read_again(self.client, source, laid_on(self.client.platform)).readings
        writes = [self._write_by(copier, source) for copier in self.copiers]
        remounted = self._remount()
        copies = []
        for written in writes:
            snapshots = self._look_at(written, remounted)
            judge = Judge(original, refused, written.copied.failures, written.copied.unread)
            views = {view: _judge_all(judge, snapshot) for view, snapshot in snapshots.items()}
            debris = (snapshots.get(View.STORE) or list(snapshots.values())[-1]).debris
            copies.append(self._copy(written.copier, Direction.WRITE, views, debris))
        self._remove(source)
        return copies

    def _write_by(self, copier: Copier, source: str) -> Written:
        name = f"{copier.name}-{self.number}"
        if self.is_remote:  # a tool that copies nothing leaves an empty folder to look at
            self.session.pair.hosts[Role.SERVER].run("mkdir", "-p", "--", self._on_server(name))
        copied = self._copy_probes(copier, Direction.WRITE, source, name)
        early = None if self.is_remote else self._read_in_share(name, self.client.platform)
        return Written(copier, name, copied, early)

    def _look_at(self, written: Written, remounted: bool) -> dict[View, Snapshot]:
        """A copy in the share from every side."""
        snapshots = {View.MOUNT: written.early} if written.early else {}
        if self.server:
            probes = readable(self.client.platform, self.server.platform)
            snapshots[View.STORE] = self._read_again(self.server, self._on_server(written.name), probes, as_root=True)
        if remounted:
            snapshots[View.REMOUNT] = self._read_in_share(written.name, self.client.platform)
        return snapshots

    def _read(self, server: ProbedHost) -> list[Copy]:
        """Every copy from the server to the client."""
        name = f"probes-{self.number}"
        refused = server.lay(self._on_server(name), self.setup.share.account)
        original = self._read_again(server, self._on_server(name), laid_on(server.platform), as_root=True).readings
        self._remount()
        through_mount = None if self.is_remote else self._read_in_share(name, server.platform)
        copies = []
        for copier in self.copiers:
            target = self._on_client(f"{copier.name}-{self.number}")
            copied = self._copy_probes(copier, Direction.READ, target, name)
            snapshot = self._read_again(self.client, target, readable(server.platform, self.client.platform))
            views = {View.MOUNT: _judge_all(Judge(original, refused, {}), through_mount)} if through_mount else {}
            views[View.CLIENT] = _judge_all(Judge(original, refused, copied.failures, copied.unread), snapshot)
            copies.append(self._copy(copier, Direction.READ, views, snapshot.debris))
            self._remove(target)
        return copies

    def _copy_probes(self, copier: Copier, direction: Direction, on_client: str, name: str) -> Copied:
        """Copy all probes between a folder of the client and one of the share; again those that could not be read."""
        platform = self.client.platform if direction is Direction.WRITE else self.server_platform
        names = [probe.name for probe in laid_on(platform)]
        copied = self._copy_named(copier, direction, on_client, name, names)
        if not copied.unread:
            return copied
        again = self._copy_named(copier, direction, on_client, name, [name for name in names if name in copied.unread])
        failures = {name: text for name, text in copied.failures.items() if name not in copied.unread}
        failures |= again.failures
        unread: dict[str, str] = {}
        for name, text in again.unread.items():
            if direction is Direction.READ and all(map(SAYS_NO.search, text.splitlines())):
                failures[name] = "\n".join(filter(None, [text, failures.get(name)]))
            else:
                unread[name] = text
        return Copied(failures, "", unread)

    def _copy_named(self, copier: Copier, direction: Direction, on_client: str, name: str, names: list[str]) -> Copied:
        """Copy these probes.

        If the mount ends at a probe, mount anew and try that probe again; after a second time, skip the probe. Raises
        LabFailure if the mount ends again and again.
        """
        is_write = direction is Direction.WRITE
        words = copier.words(self.client.platform, self.engine, self.setup.attached.remote_shell)
        failures: dict[str, str] = {}
        unread: dict[str, str] = {}
        last_stop = ""
        self.session.mounting.failed.clear()
        while names:
            alive, in_share = "" if self.is_remote else self._in_share(""), self._in_share(name)
            source, target = (on_client, in_share) if is_write else (in_share, on_client)
            call = CopyCall(words, source, target, names, copier.onto, self.is_remote and is_write, alive)
            copied = self.client.copy(call)
            failures |= copied.failures
            unread |= copied.unread
            if not copied.stopped:
                break
            self._mount_again(LabFailure(f"{MOUNT_ENDED} ({copied.stopped})", host=Role.CLIENT))
            names = names[names.index(copied.stopped) :]
            unread.pop(copied.stopped, None)
            if copied.stopped == last_stop:
                failures[names.pop(0)] = MOUNT_ENDED
            else:
                failures.pop(copied.stopped, None)
            last_stop = copied.stopped
        return Copied(failures, "", unread)

    def _read_again(self, host: ProbedHost, root: str, probes: Sequence[Probe], as_root: bool = False) -> Snapshot:
        """Read probes; if that fails, connect to the host again if need be, and read them again. Raises LabFailure."""
        try:
            return host.read(root, probes, as_root)
        except LabFailure:
            self.session.settings.connections.ensure(host.host.name)
        return host.read(root, probes, as_root)

    def _read_in_share(self, name: str, laid_by: str) -> Snapshot:
        """What the client sees of probes from a platform in the share. If the mount ends meanwhile, mount anew."""
        self.session.mounting.failed.clear()
        while True:
            try:
                return self._read_again(self.client, self._in_share(name), readable(laid_by, self.client.platform))
            except CommandError as error:
                self._mount_again(error)

    def _mount_again(self, error: LabFailure) -> None:
        """Set the place up again if its mount is gone. Raises the error if the mount is there, or ended too often."""
        if not self.session.drop_lost_mount(self.case, error):
            raise error
        self.setup = self.session.set_up(self.case)

    def _copy(self, copier: Copier, direction: Direction, views: Views, debris: Mapping[str, int]) -> Copy:
        """A copy. Its command lacks the remote shell, which names keys of this run."""
        client, server = self.client.platform, self.server_platform
        platforms = (client, server) if direction is Direction.WRITE else (server, client)
        command = shlex.join(copier.words(client, self.engine, ""))
        return Copy(self.place, self.ends, direction, copier.name, command, views, debris, platforms)

    def _look_at_ends(self) -> Ends:
        effective = self.setup.attached.effective
        server_store = self.server.name_file_system(self.setup.folder) if self.server else ""
        client_store = self.client.name_file_system(self.session.pair.sides[Role.CLIENT].directory)
        mounted, dialect = (one_line(str(effective.get(name, "")), 40) for name in ("mount", "dialect"))
        return Ends(mounted or "somebody else", dialect, client_store, server_store)

    def _remove(self, folder: str) -> None:
        """Remove a copy from the client, where it takes room."""
        client = self.client.host
        client.run("rm", "-rf", "--", folder, root=not (client.lacks_root or client.is_narrow))


def _judge_all(judge: Judge, snapshot: Snapshot) -> dict[str, Judgement]:
    """A judgement of each probe that was read."""
    return {
        probe.name: judge.judge(probe, snapshot.readings[probe.name], snapshot.plain.get(probe.name))
        for probe in ALL
        if probe.name in snapshot.readings
    }
