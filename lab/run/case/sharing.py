"""Serving a share and mounting it: what the drivers of a protocol do on each host, and the setup that results."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import CommandError, DeadlineExceeded, HostError, LabFailure
from lab.base.present import present
from lab.base.scripts import read_script
from lab.base.untrusted import first_line, one_line
from lab.design.case import Case
from lab.hosts import Host, Role, role_of
from lab.hosts.command import script
from lab.hosts.mounts import real_path
from lab.hosts.own_folder import new_name
from lab.protocols import Attached, Driver, Share
from lab.protocols.driver import durability_in_effect, options_in_effect
from lab.protocols.share_folder import FIXED_MODE, READ_SOURCE, share_folder
from lab.run.case import made_store
from lab.run.case.made_store import MadeStore
from lab.run.case.pair import Pair, at_home
from lab.settings.changes import Settings
from lab.settings.journal import Record

NEW_FILE = 'set -C; : > "$1/$(cat)"'  # never one that is there already
STAYS_OPEN = (
    "server: the lab's folder in {folder} stays open to all accounts there: who writes there has no group of its own, "
    "and an access control list did not take"
)
IS_FOLDER = '[ -d "$1" ]'
IS_GONE = read_script(__file__, "mount_is_gone.sh")
Drivers = Mapping[Role, Driver]


class MountFailed(CommandError):
    """A client could not mount the share."""


class FolderRefused(CommandError):
    """The run's folder could not be made in the share."""


@dataclass(frozen=True)
class Shares:
    """The share of a case, and the folder of its files on the server."""

    pair: Pair
    password: SecretStr

    def share(self, case: Case) -> Share:
        """The share of a case."""
        config, sides = self.pair.config.share, self.pair.sides
        server = self.pair.facts.get(Role.SERVER)
        path = at_home(config.path or "", server.home if server else "")
        if config.serve == "lab":
            directory = sides[Role.SERVER].directory
            paths = {"ram": f"{directory}/ram", "disk": f"{self._own_folder(path)}/share"}
            path = paths.get(case.store, made_store.folder_of(directory))
        level, options = case.option("server_sync"), case.mount_options
        return Share(path, config.name, config.account, self.password, config.serve == "lab", level, options=options)

    def folder(self, case: Case) -> str:
        """The folder of the case's files on the server; in an existing share, one of the lab's own."""
        share = self.share(case)
        return share.path if share.served_by_lab else self._own_folder(share.path)

    def _own_folder(self, path: str) -> str:
        inside = f"/{self.pair.config.share.folder}" if self.pair.config.share.folder else ""
        return f"{path}{inside}/{self.pair.store_name}"


@dataclass(frozen=True)
class Served:
    """What serves a share. ``durability`` is read back from the server; empty if the lab does not serve."""

    drivers: Drivers
    durability: Mapping[str, str]


@dataclass(frozen=True)
class Mount:
    """A share on a client; ``record`` is the mount's in the journal, None if the lab did not mount.

    ``payloads`` are the names of payloads that stay in the share to be read again, by workload and size in bytes.
    """

    attached: Attached
    record: Record | None
    payloads: dict[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setup:
    """What is set up for a case, as one of its clients sees it, until the next case is set up.

    ``folder`` holds its files on the server. ``used`` says that the mount served an earlier case already.
    ``ram_disks`` describe the RAM disk of server and client. ``store`` is the file system that was made for the case.
    """

    share: Share
    folder: str
    served: Served
    mount: Mount
    used: bool
    ram_disks: Mapping[Role, str]
    store: MadeStore | None = None

    @property
    def attached(self) -> Attached:
        """The share as the client sees it."""
        return self.mount.attached


def drivers_of(pair: Pair, protocol: str) -> dict[Role, Driver]:
    """A fresh driver of a protocol for each host. For a server without a login it can do nothing."""
    factory = protocols.find(protocol)
    return {Role.SERVER: Driver(), **{role: factory.driver(pair.sides[role].platform) for role in pair.roles}}


def serve(pairs: Sequence[Pair], settings: Settings, protocol: str, share: Share, folder: str) -> Served:
    """Make the folder, serve the share to all clients if the lab is to, and prepare the first client."""
    pair, drivers = pairs[0], drivers_of(pairs[0], protocol)
    client, server = pair.sides[Role.CLIENT], pair.sides[Role.SERVER]
    if pair.config.share.mounted:
        return Served(drivers, {})
    if not pair.config.through_mount and not folder.startswith(server.directory):
        _make_folder(pair, settings, share, folder)
    effective: Mapping[str, str] = {}
    with explained(drivers):
        if share.served_by_lab:
            # the server has to offer an old dialect that any client needs
            old = (drivers_of(beside, protocol)[Role.CLIENT].old_dialect(beside.sides[Role.CLIENT]) for beside in pairs)
            share = replace(share, old_dialect=next(filter(None, old), ""))
            settings.follow(drivers[Role.SERVER].serve(server, share))
            effective = durability_in_effect(drivers[Role.SERVER], server, share)
        settings.follow(drivers[Role.CLIENT].prepare(client))
    return Served(drivers, effective)


def _make_folder(pair: Pair, settings: Settings, share: Share, folder: str) -> None:
    """Make the folder of store ``disk``. Everybody may write into it, but if the lab serves, few can reach it."""
    server, files = pair.sides[Role.SERVER], pair.platforms[Role.SERVER].files
    if not share.served_by_lab:
        settings.apply(files.folder(folder, "any", server.user, mode="1777"))
        return
    settings.apply(files.folder(folder.rpartition("/")[0], "any", server.user, share.account))
    server.host.run("mkdir", "-m", "1777", folder)


def prepare_beside(pair: Pair, settings: Settings, served: Served, protocol: str) -> Served:
    """Prepare another client for a share that is served already."""
    drivers = {**served.drivers, Role.CLIENT: drivers_of(pair, protocol)[Role.CLIENT]}
    with explained(drivers):
        settings.follow(drivers[Role.CLIENT].prepare(pair.sides[Role.CLIENT]))
    return replace(served, drivers=drivers)


def close_to_others(pair: Pair, share: Share, folder: str, attached: Attached) -> str:
    """In an existing share, close the lab's folder to all accounts but the one that writes there.

    Only a file that was written through the share shows which account its server uses. Another account could replace a
    payload by a link, because its name shows in the client's list of processes. Returns a notice if the folder stays
    open.
    """
    if share.served_by_lab or pair.config.through_mount:
        return ""
    files, account, name = pair.platforms[Role.SERVER].files, pair.sides[Role.SERVER].user, ""
    if not attached.remote_shell:
        files.open_folder(folder)  # another mount of the same share may have closed it
        name = _write_by_share(pair, share, folder, attached)
    how = files.close_folder(folder, account, name)
    if how == "list":  # not every server obeys an access control list
        if proof := _write_by_share(pair, share, folder, attached):
            files.remove(f"{folder}/{proof}")
        else:
            files.open_folder(folder)
            how = "open"
    return STAYS_OPEN.format(folder=folder.rpartition("/")[0]) if how == "open" else ""


def _write_by_share(pair: Pair, share: Share, folder: str, attached: Attached) -> str:
    """Make a new file in the folder through the share; returns its name, or nothing if the share refuses."""
    name, in_share = new_name(), f"{attached.path}{folder.removeprefix(share.path)}"
    made = pair.hosts[Role.CLIENT].shell(NEW_FILE, in_share, given=name, check=False)
    return "" if made.exit_code else name


def attach(pair: Pair, settings: Settings, drivers: Drivers, protocol: str, share: Share) -> Mount:
    """Mount the share on the client, and read back the options that were asked for."""
    steps = drivers[Role.CLIENT].attach(pair.sides[Role.CLIENT], pair.server_seen, share)
    mark = len(settings.journal.open)
    with explained(drivers, MountFailed):
        attached = settings.follow(steps)
    of_server = drivers[Role.SERVER].server_options() if share.served_by_lab else {}
    options = {**attached.options, **of_server}
    effective = {**attached.effective, **options_in_effect(protocol, share, options)}
    made = settings.journal.open[mark:]
    return Mount(replace(attached, effective=effective), made[-1] if made else None)


def find_mounted(pair: Pair) -> Mount:
    """The share that somebody else mounted on the client."""
    path = real_path(pair.hosts[Role.CLIENT], at_home(present(pair.config.share.mounted), pair.facts[Role.CLIENT].home))
    mounts = pair.platforms[Role.CLIENT].mounts
    return Mount(Attached(path, effective=mounts.negotiated(mounts.share_at(path))), None)


def make_folder_in_mount(pair: Pair, settings: Settings, mount: Mount, folder: str, again: bool) -> Mount:
    """Make the run's folder in the share, through the mount; ``again``: an earlier mount may have made it.

    Returns the mount with the mode that it gives files.
    """
    client, path = pair.hosts[Role.CLIENT], f"{mount.attached.path}{folder}"
    given, parent = pair.config.share, path.rpartition("/")[0]
    if given.folder and client.shell(IS_FOLDER, parent, check=False).exit_code:
        message = f"the share {given.label} has no folder {one_line(given.folder, 200)}"
        raise LabFailure(message, "is it written as on the server, with its capitals, and may this account see it?")
    source = script(READ_SOURCE, parent).run(client)
    try:
        settings.apply(share_folder(Role.CLIENT, path, source, mount.record is not None, again))
    except DeadlineExceeded:
        raise
    except CommandError as error:
        raise FolderRefused(error.host, error.argv, error.exit_code, error.output, error.remedy) from error
    mode = mount.attached.file_mode or script(FIXED_MODE, path, given=new_name()).run(client)
    return replace(mount, attached=replace(mount.attached, file_mode=first_line(mode, 40)))


def is_gone(client: Host, mount: Mount) -> bool:
    """Whether a mount is no longer there. One that hangs is there: the error of the transfer says more."""
    with suppress(HostError):
        return not mount.attached.remote_shell and not client.shell(IS_GONE, mount.attached.path, check=False).exit_code
    return False


@contextmanager
def explained(drivers: Drivers, failure: type[CommandError] = CommandError) -> Iterator[None]:
    """Raise a command that failed as a ``failure``, with the remedy that its driver knows."""
    try:
        yield
    except DeadlineExceeded:
        raise
    except CommandError as error:
        remedy = drivers[role_of(error.host)].explain(error.output)
        if not remedy and failure is CommandError:
            raise
        remedy = remedy or error.remedy
        raise failure(error.host, error.argv, error.exit_code, error.output, remedy) from error
