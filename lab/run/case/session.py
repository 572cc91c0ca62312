"""The hosts of a run: setting up what a case needs, and taking it down again.

Settings stay from one case to the next if both need the same (:mod:`lab.settings.changes`). A read always gets a fresh
mount, so that nothing of the share is in the client's memory.
"""

from collections.abc import Mapping
from contextlib import suppress

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import CommandError, DeadlineExceeded, HostLost, LabFailure, RestoreError
from lab.base.present import present
from lab.design.case import Case
from lab.hosts import Host, Role
from lab.hosts.hosts_file import Hosts
from lab.hosts.role import client_name
from lab.platforms.files import Above
from lab.protocols import Share
from lab.protocols.options import SERVER_OPTIONS
from lab.run.case import made_store, network, ports, sharing
from lab.run.case.made_store import MadeStore
from lab.run.case.mounting import Mounting
from lab.run.case.pair import Pair, at_home
from lab.run.case.radio import Radios
from lab.run.case.sharing import IS_FOLDER, Mount, Served, Setup, Shares
from lab.settings.changes import Layer, Layers, Settings
from lab.settings.host_journal import LAPSED
from lab.stores import file_system
from lab.workloads import Payload
from lab.workloads.file import PAYLOAD as ONE_FILE

FIRST = client_name(1)
NOT_COLD = 'see what the kernel of that host says (`dmesg`), or give server_cache = ["warm"] in the sweep'
TOUCH_S = 10.0  # a command may hang for ever on a mount whose server is gone


class Session:
    """Sets up on the hosts what each case needs, to move the ``payload``.

    ``pairs`` are the server with each client of the hosts file, ``pair`` the one with the first. ``settings`` puts back
    what is changed.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        config: Hosts,
        settings: Settings,
        password: SecretStr,
        payload: Payload = ONE_FILE,
    ):
        self.payload = payload
        self.pair = Pair.of(hosts, config)
        self.pairs = (self.pair, *(self.pair.beside(name, hosts[name]) for name in config.more_clients))
        self.shares = Shares(self.pair, password)
        self.settings = settings
        self.layers = Layers(settings)
        self.mounting = Mounting(self.layers)
        self.tool_versions: dict[tuple[str, str], str] = {}  # by host and tool
        self.radios = Radios(self.pair)
        self._base = len(settings.journal.open)
        self._boots: dict[str, str] = {}
        self._ram_disks: dict[str, str] = {}
        self._store: MadeStore | None = None
        self._served: dict[str, Served] = {}  # by client
        self._mounts: dict[str, Mount] = {}
        self._used: set[str] = set()  # the clients whose mount served an earlier case
        self._notices: set[str] = set()
        self._in_share: Case | None = None  # the case whose mount made the run's folder in the share

    def open(self) -> None:
        """Make the lab's own folder on all hosts that a run may change, and the RAM disks."""
        self._base = len(self.settings.journal.open)
        self._boots = self._starts()
        for role in reversed(self.pair.roles):
            if role in self.pair.config.changed:
                self._open(self.pair, role)
            else:
                self.pair.platforms[role].clock.watch(self.pair.sides[role.peer].address)
        for pair in self.pairs[1:]:
            self._open(pair, Role.CLIENT)

    def _open(self, pair: Pair, role: Role) -> None:
        side, platform = pair.sides[role], pair.platforms[role]
        interface, config = pair.interface(role), getattr(pair.config, role)
        above: Above = "us" if config.mount_base else "home"
        share = pair.config.share
        # the account of the share enters the folder only if the lab serves from there
        through = share.account if role is Role.SERVER and share.serve == "lab" else ""
        self.settings.apply(platform.files.folder(side.directory, above, side.user, through))
        platform.clock.install(side.directory, interface, pair.sides[role.peer].address)
        self.settings.follow(platform.settings.awake(side.directory))
        if role in pair.with_ram_disk:
            ram = f"{side.directory}/ram"
            side.host.run("mkdir", ram)
            private = role is Role.CLIENT
            steps = platform.ram_disks.make(ram, config.ram_disk, config.ram_disk_format, private)
            self._ram_disks[side.host.name] = self.settings.follow(steps)
        self.settings.follow(platform.clock.sampling(interface))

    def recover(self) -> None:
        """After a failure: put back all layers, and reconnect to lost hosts.

        Open again if a host was restarted, or has put everything back by itself. Raises RestoreError, and HostError if
        a host stays out of reach, because going on would measure something else.
        """
        self.layers.step_down(0)
        for name in self.settings.hosts:
            self.settings.connections.ensure(name)
        lapsed = [name for name, host_journal in self.settings.host_journals.items() if host_journal.lapsed]
        if lapsed or self._starts() != self._boots:
            self.settings.unwind(self._base)
            for name in lapsed:
                self.settings.connections.tell(f"{name}: {LAPSED}; the run goes on with settings made anew")
                self.settings.host_journals[name].lapsed = False
            self.open()

    @property
    def on_one_machine(self) -> bool:
        """Whether all hosts share one kernel, as in a local lab: then they started at the same moment."""
        return len(self._boots) > 1 and len({boot.split(" ")[0] for boot in self._boots.values()}) == 1

    def _starts(self) -> dict[str, str]:
        """The present start of each host, unlike any other start."""
        return {role: host_journal.boot for role, host_journal in self.settings.host_journals.items()}

    def set_up(self, case: Case) -> Setup:
        """Apply the settings of a case, changing as little as possible from the case before."""
        share, before = self.shares.share(case), dict(self._mounts)
        below = [*network.layers(self.pairs, self.settings, case), *self._share_layers(case, share)]
        mounts = [self._mount_layer(pair, case, share) for pair in self.pairs[: case.clients]]
        try:
            self.mounting.set_up([*below, *mounts], len(mounts))
        except (HostLost, RestoreError):
            raise
        except LabFailure as error:
            self._check_port(case, error)
            raise
        self._used = {name for name, mount in self._mounts.items() if before.get(name) is mount}
        return self.setup_of(case, self.pair)

    def _check_port(self, case: Case, error: LabFailure) -> None:
        """Raise LabFailure if serving or mounting failed because another server has the port of the lab's own.

        The lab's own server is stopped first, so that only another one can answer.
        """
        protocol, below = protocols.find(case.protocol), network.layers(self.pairs, self.settings, case)
        needs_port = ports.is_for_lab(protocol, self.pair.config.share.serve, self.pair.server_seen.platform)
        if needs_port and self.layers.stands_on(below):  # else the network failed before any server was started
            self.layers.move(below)
            ports.check_free(self.pair, protocol.port, error)

    def setup_of(self, case: Case, pair: Pair) -> Setup:
        """The setup of a case for the client of a pair."""
        name = pair.hosts[Role.CLIENT].name
        ram_disks = {role: self._ram_disks[pair.hosts[role].name] for role in pair.with_ram_disk}
        share, folder = self.shares.share(case), self.shares.folder(case)
        served, mount = self._served[name], self._mounts[name]
        return Setup(share, folder, served, mount, name in self._used, ram_disks, self._store)

    def set_up_store(self, case: Case) -> tuple[str, MadeStore | None]:
        """Set up the store of a case without a share; returns its folder, and the store that the lab made, if any.

        No trial uses such a store afterwards.
        """
        if file_system(case.store) is None and not case.is_local:
            return self.set_up(case).folder, None
        below = [] if case.is_local else network.layers(self.pairs, self.settings, case)
        key = ("store by itself", case.store, *case.store_options.items())
        self.layers.move([*below, *self._store_layers(case, key)])
        if self._store is None:
            home = self.pair.facts[Role.SERVER].home
            return at_home(present(self.pair.config.share.path), home), None
        return made_store.folder_of(self.pair.sides[Role.SERVER].directory), self._store

    def set_up_network(self, case: Case) -> None:
        """Set the MTU and the TCP buffers of a case; an idle server above them may stay."""
        needed = network.layers(self.pairs, self.settings, case)
        if not self.layers.stands_on(needed):
            self.layers.move(needed)

    def mount_anew(self, setup: Setup, always: bool = False) -> bool:
        """Mount the share anew, to drop the client's caches; an unused mount stays, unless ``always``.

        False if that failed, and the case has to be set up again.
        """

        def renew() -> None:
            if setup.mount.record and (always or setup.used):
                with sharing.explained(setup.served.drivers):
                    self.settings.renew(setup.mount.record)

        return self.mounting.renew(renew)

    def drop_lost_mount(self, case: Case, error: LabFailure) -> bool:
        """Whether a transfer failed because a client's mount is gone, and the case may be set up again.

        A program that mounts for an account, such as GVfs, may die at any time, and its mount with it.
        """
        clients = [pair.hosts[Role.CLIENT] for pair in self.pairs[: case.clients]]
        is_gone = any(sharing.is_gone(client, self._mounts[client.name]) for client in clients)
        return is_gone and self.mounting.drop(error)

    def forget_store(self, case: Case) -> None:
        """Before a read from a cold server, empty the store's own cache, if it has one.

        Nothing may use the store meanwhile, so its server stops, and starts anew.
        """
        if case.option("server_cache") != "cold" or self._store is None or self._store.forget is None:
            return
        self.layers.move([*network.layers(self.pairs, self.settings, case), *self._store_layers(case)])
        try:
            self._store.forget.run(self.pair.hosts[Role.SERVER])
        except DeadlineExceeded:
            raise
        except CommandError as error:
            raise CommandError(error.host, error.argv, error.exit_code, error.output, NOT_COLD) from error
        self.set_up(case)

    def leave_share(self) -> None:
        """At the end, make the run's folder in the share reachable, so that putting back removes it.

        A mount of the lab's own that died with its program is made anew. Tells the user if the folder stays.
        """
        case = self._in_share
        if case is None or self.pair.config.share.mounted:  # that may come back: the journal stays open
            return
        self.mounting.failed.clear()
        try:
            setup = self.set_up(case)
            folder = f"{setup.attached.path}{setup.folder.removeprefix(setup.share.path)}"
            with suppress(DeadlineExceeded):  # a share that hangs: putting back tries once more, and tells
                client = self.pair.hosts[Role.CLIENT]
                if client.shell(IS_FOLDER, folder, check=False, deadline_s=TOUCH_S).exit_code != 0:
                    self.mounting.unmount()
                    self.set_up(case)
        except LabFailure as error:
            name = self.shares.folder(case).rpartition("/")[2]
            self.settings.connections.tell(
                f"warning: the folder {name} stays in the share, which is out of reach ({error.cause()}): "
                "remove it once the server is back"
            )

    def _share_layers(self, case: Case, share: Share) -> list[Layer]:
        """The layers that serve the share of a case, and prepare the first client."""
        folder = self.shares.folder(case)

        def serve() -> None:
            self._served = {FIRST: sharing.serve(self.pairs, self.settings, case.protocol, share, folder)}

        serving = ("serve", case.protocol, case.store, share.server_sync, *map(share.options.get, SERVER_OPTIONS))
        return [*self._store_layers(case), (serving, serve)]

    def _mount_layer(self, pair: Pair, case: Case, share: Share) -> Layer:
        """The layer that mounts the share of a case on one client."""
        name = pair.hosts[Role.CLIENT].name

        def attach() -> None:
            if name == FIRST:
                self._mounts[name] = self._attach_first(case, share)
            else:
                served = sharing.prepare_beside(pair, self.settings, self._served[FIRST], case.protocol)
                self._served[name] = served
                self._mounts[name] = sharing.attach(pair, self.settings, served.drivers, case.protocol, share)

        return ("attach", name, case.protocol, case.store, tuple(share.options.items())), attach

    def _attach_first(self, case: Case, share: Share) -> Mount:
        """Mount the share on the first client, and make the run's folder there, which all clients use."""
        folder, pair = self.shares.folder(case), self.pair
        if pair.config.share.mounted:
            mount = sharing.find_mounted(pair)
        else:
            mount = sharing.attach(pair, self.settings, self._served[FIRST].drivers, case.protocol, share)
        if pair.config.through_mount and not mount.attached.remote_shell:
            in_share, again = folder.removeprefix(share.path), self._in_share is not None
            mount = sharing.make_folder_in_mount(pair, self.settings, mount, in_share, again)
            self._in_share = case
        notice = sharing.close_to_others(pair, share, folder, mount.attached)
        if notice and notice not in self._notices:
            self._notices.add(notice)
            self.settings.connections.tell(notice)
        return mount

    def _store_layers(self, case: Case, key: tuple[object, ...] = ()) -> list[Layer]:
        """The layer of a case's own file system, if it has one; always new, because a used one is slower."""
        store = file_system(case.store)
        if store is None:
            self._store = None
            return []
        server, directory = self.pair.platforms[Role.SERVER], self.pair.sides[Role.SERVER].directory

        def make() -> None:
            steps = made_store.make(server, store, directory, self.pair.config.share, case.store_options)
            self._store = self.settings.follow(steps)

        return [(key or ("store", case.case_id), make)]
