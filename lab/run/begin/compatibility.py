"""Whether a hosts file and a sweep go together: what they and this machine show, before a host is reached."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import SecretStr

from lab import platforms, protocols, workloads
from lab.base.errors import BadInput, Unsupported
from lab.base.untrusted import listing
from lab.design import store_shots
from lab.design.case import Case
from lab.design.grid import check_names, grid_of
from lab.design.payload_size import MIB, ROOM
from lab.design.plan import check_design
from lab.design.sweep_file import Sweep
from lab.design.workload import Workload
from lab.hosts import ROLES, Role, passwords, ssh
from lab.hosts.hosts_file import Hosts
from lab.hosts.role import client_name
from lab.run.begin.capability import check_server
from lab.run.case import made_store
from lab.run.case.catalogue import CATALOGUE
from lab.settings import register

EXT4_INODE_BYTES = 16384  # one for so many bytes: inode_ratio of the defaults in mke2fs.conf


def check_fit(config: Hosts, sweep: Sweep, results: Path | None = None) -> tuple[Case, ...]:
    """The cases of the sweep's grid. Raises BadInput for what can be seen to be wrong before a host is reached.

    ``results`` is the folder of a new run; None for a run that is resumed.
    """
    check_names(sweep, CATALOGUE)
    platforms.check_hosts(config)
    stores = sweep.factors.of("store")
    for name in () if sweep.is_local else config.clients:
        _check_ram_disk(config, name, sweep.workload, 1)
    if "ram" in stores:
        _check_ram_disk(config, Role.SERVER, sweep.workload, most_clients(sweep))
    if config.share.serve == "existing" and stores != ("disk",):
        raise BadInput(
            f"{config.place}[share] serve = existing: the lab cannot choose where that share's files are",
            'give store = ["disk"] in the sweep, or serve = lab',
        )
    for role in (*config.clients, Role.SERVER):
        if not config.may_tune(role) and sweep.factors.of("tcp_space") != ("default",):
            raise BadInput(
                f"{config.place}[{role}] tune: the lab is not to change this host, but the sweep wants TCP buffers",
                f'give tcp_space = ["default"] in the sweep{config.or_tune(role)}',
            )
    wanted, clients = most_clients(sweep), config.clients
    if wanted > len(clients):
        raise BadInput(
            f"{config.place}the sweep wants {wanted} clients, and there are {len(clients)}",
            f"give [{client_name(len(clients) + 1)}] and so on, or fewer clients in the sweep",
        )
    _check_images(config, sweep)
    _check_devices(config, sweep)
    _check_share(config, sweep)
    _check_store_tools(config, sweep)
    if "disk" in stores and config.share.path is None and not config.through_mount:
        raise BadInput(f"{config.place}[share] path: missing", 'store "disk" needs the folder on the server')
    cases = grid_of(sweep, CATALOGUE)[0]
    if results is not None:
        _check_new_run(config, sweep, cases, results)
    check_design(sweep, cases)
    return cases


def _check_new_run(config: Hosts, sweep: Sweep, cases: Sequence[Case], results: Path) -> None:
    """Raise BadInput if the hosts cannot be reached, or a run cannot be kept. Asks nobody for a password."""
    mtus = sweep.factors.of("mtu")
    for role in ROLES:
        if not config.may_tune(role) and len(mtus) > 1:
            raise BadInput(
                f"{config.place}[{role}] tune: the lab is not to change this host, but the sweep wants "
                f"{len(mtus)} MTUs of it",
                "give mtu one level in the sweep, that which the host has, or tune = yes",
            )
    for case in cases if not sweep.is_local else ():
        try:
            check_server(case, protocols.find(case.protocol), config.share.serve)
        except Unsupported as error:
            raise BadInput(error.message, error.remedy) from error
    for name in config.names:
        ssh.check(name, config.section(name))
    if needs_password(config, sweep):
        passwords.check(config.share.password, config.share.account, f"{config.place}[share] password")
    register.check_place()
    folder = results.absolute()
    while not os.path.lexists(folder):
        folder = folder.parent
    wrong = "not a folder" if not folder.is_dir() else "" if os.access(folder, os.W_OK | os.X_OK) else "not writable"
    if wrong:
        message = f"{folder}: {wrong}, and runs are to be kept in {results.absolute()}"
        raise BadInput(message, "go to another folder, or name one by --results")


def needs_password(config: Hosts, sweep: Sweep) -> bool:
    """Whether a mount of this sweep takes the share's password."""
    names = sweep.factors.names("protocol") if not sweep.is_local else ()
    return config.share.mounted is None and any(protocols.find(name).takes_password for name in names)


def ask_password(config: Hosts, sweep: Sweep) -> SecretStr:
    """The share's password; empty if no mount of this sweep takes one."""
    if not needs_password(config, sweep):
        return SecretStr("")
    return passwords.resolve(config.share.password, config.share.account, f"{config.place}[share] password")


def most_clients(sweep: Sweep) -> int:
    """How many clients a sweep has at once."""
    return max(int(count) for count in sweep.factors.of("clients"))


def _check_store_tools(config: Hosts, sweep: Sweep) -> None:
    """Raise BadInput for ``store_tools`` that would measure nothing."""
    asked = [name for name in sweep.store_tools if name != "dd" or sweep.is_local]
    if not asked:
        return
    are_measured = [made_store.is_measured(store) for store in sweep.factors.names("store")]
    if not any(are_measured) or (sweep.is_local and not all(are_measured)):
        lacks = 'has "ram"' if any(are_measured) else 'has no "disk"'
        raise BadInput(
            f"{sweep.place}store_tools: {listing(asked)}: that measures the disk that files lie on, and store {lacks}",
            'give store = ["disk"] or file systems that the lab makes, or leave store_tools out',
        )
    if config.through_mount:
        why = config.unseen or BadInput("[share] has no path there", "give it")
        raise BadInput(
            f"{sweep.place}store_tools: {listing(asked)}: that runs on the server, and {why.message}",
            f"{why.remedy}, or leave store_tools out",
        )


def _check_share(config: Hosts, sweep: Sweep) -> None:
    """Raise BadInput for what the sweep wants, and the share cannot do."""
    share, names = config.share, sweep.factors.names("protocol")
    if share.mounted and len(names) > 1:
        raise BadInput(
            f"{config.place}[share] mounted: a share that is mounted already has one protocol, the sweep wants "
            f"{listing(names)}",
            f'give protocol = ["{names[0]}"] in the sweep, if that is it, or let the lab mount the share',
        )
    if "nfs" in names and share.serve == "existing" and share.path is None and not share.mounted:
        raise BadInput(f"{config.place}[share] path: missing", "NFS mounts the folder that the server exports")
    if (share.path or "").startswith("~") and not config.server.is_reached:
        raise BadInput(
            f"{config.place}[share] path: {share.path}: whose home that is only a login on the server would tell",
            "give the full path",
        )


def _check_images(config: Hosts, sweep: Sweep) -> None:
    """Raise BadInput if a file system of the lab's own would be too small to be made, or for the payload."""
    image_bytes, payload = config.share.image_size, workloads.payload(sweep.workload.kind).of(sweep.workload)
    size_bytes = _least_size(sweep.workload)
    room_bytes = {"a payload": 0 if sweep.is_local else payload.room(size_bytes)}
    room_bytes |= {"a file of fio": store_shots.fio_bytes(size_bytes) if "fio" in sweep.store_tools else 0}
    room_bytes |= {"a file of bonnie++": sweep.bonnie_size or 0}
    largest = max(room_bytes, key=lambda name: room_bytes[name])
    of_largest = f" with {largest} of {room_bytes[largest]} bytes" if room_bytes[largest] else ""
    for store, levels in made_store.made_of(sweep):
        least_bytes = max(store.least_size(levels), store.room(levels).size_for(round(room_bytes[largest] * ROOM)))
        if image_bytes < least_bytes:
            of_levels = "".join(f", {store.name}.{name} {level}" for name, level in levels.items())
            raise BadInput(
                f"{config.place}[share] image_size: {image_bytes} bytes are too few for "
                f"{store.name}{of_levels}{of_largest}",
                f"give {-(-least_bytes // MIB)} MiB or more, or a smaller size in the sweep",
            )


def _check_devices(config: Hosts, sweep: Sweep) -> None:
    """Raise BadInput if the user named fewer devices than the stores of the sweep need."""
    named = config.share.devices
    if named and config.share.serve != "lab":
        raise BadInput(f"{config.place}[share] devices: are for serve = lab", "leave them out, or give serve = lab")
    if len(named) < (needed := made_store.count_devices(sweep)):
        raise BadInput(
            f"{config.place}[share] devices: {len(named)} named, and the sweep has stores on {needed}",
            "name so many disks or partitions of the server that hold nothing, or take that level out of the sweep",
        )


def devices_of(config: Hosts, sweep: Sweep) -> tuple[str, ...]:
    """The server's devices that a sweep writes to."""
    return config.share.devices[: made_store.count_devices(sweep)]


def check_write_to(config: Hosts, sweep: Sweep, write_to: Collection[str]) -> None:
    """Raise BadInput unless a sweep writes to exactly the devices that the user named at the command."""
    devices = devices_of(config, sweep)
    if set(write_to) == set(devices):
        return
    named = f", and --write-to has {listing(write_to)}" if write_to else ""
    if not devices:
        raise BadInput(f"--write-to: the sweep writes to no device{named}", "leave it out")
    them = "it" if len(devices) == 1 else "them"
    raise BadInput(
        f"the sweep writes to {listing(devices)} of the server{named}",
        f"make sure that nobody needs {them}; then: {' '.join(f'--write-to {device}' for device in devices)}",
    )


def _least_size(workload: Workload) -> int:
    """Bytes of the payload; the least possible if the speed of the link decides later."""
    return MIB if workload.size is None and workload.seconds is not None else workload.planned_size


def _check_ram_disk(config: Hosts, name: str, workload: Workload, payloads: int) -> None:
    """Raise BadInput if the RAM disk of a host is too small for so many payloads."""
    host, payload = config.section(name), workloads.payload(workload.kind).of(workload)
    size_bytes = _least_size(workload)
    room_bytes, files = payloads * payload.room(size_bytes), payloads * payload.files(size_bytes)
    remedy = "a larger ram_disk, or a smaller size in the sweep"
    if room_bytes * ROOM > host.ram_disk:
        on_disk = f" in {files} files, which take {room_bytes} bytes there," if payload.is_folder else ""
        content = "a payload" if payloads == 1 else f"{payloads} payloads"
        raise BadInput(
            f"{config.place}[{name}] ram_disk: {host.ram_disk} bytes cannot hold {content} of {size_bytes} bytes"
            f"{on_disk} with room to spare",
            remedy,
        )
    if host.ram_disk_format == "ext4" and files > host.ram_disk // EXT4_INODE_BYTES:
        raise BadInput(
            f"{config.place}[{name}] ram_disk: {host.ram_disk} bytes of ext4 have an inode for each "
            f"{EXT4_INODE_BYTES} bytes, too few for {files} files",
            f"{remedy}, or ram_disk_format = tmpfs",
        )
