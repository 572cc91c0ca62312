"""A file system of the lab's own on the server, made anew for a case, and its own description."""

import functools
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from lab.base.errors import Absent, LabFailure, SettingRefused, Unsupported
from lab.base.units import size_label
from lab.base.untrusted import first_line
from lab.design.grid import grid_of
from lab.design.option_levels import FILL, fill_of
from lab.design.sweep_file import Sweep
from lab.hosts.command import Command, script
from lab.hosts.hosts_file import ShareConfig
from lab.platforms import Platform
from lab.platforms.files import parse_source
from lab.results.trial import DISK
from lab.run.case.catalogue import CATALOGUE
from lab.settings.operation import Setting
from lab.stores import FileSystem, Site, file_system, named_device, operations
from lab.workloads.file import deadline_s, noise, payload_name

FARTHEST_OFF = 2  # percent: a file system needs more for itself as it fills
FLUSH = 'sync -f "$1"'
MODULE_IS_THERE = 'if [ -e "/sys/module/$1" ]; then echo yes; else echo no; fi'


@dataclass(frozen=True)
class MadeStore:
    """A store that was made, with the levels of its options by their names in a sweep, and its room while empty.

    For ``forget``, ``count`` and ``find_fault`` see :class:`FileSystem`.
    """

    description: str
    levels: Mapping[str, str]
    capacity_bytes: int
    forget: Command | None = None
    count: Command | None = None
    find_fault: Command | None = None


def folder_of(directory: str) -> str:
    """The mount point of the store, in the lab's own folder on the server."""
    return f"{directory}/store"


def is_measured(store: str) -> bool:
    """Whether a store of this name is measured by itself: the server's disk, and file systems that the lab makes."""
    return store == DISK or file_system(store) is not None


@functools.lru_cache(maxsize=4)  # called for every slot, and goes through every case
def made_of(sweep: Sweep) -> tuple[tuple[FileSystem, Mapping[str, str]], ...]:
    """Each file system that the lab makes for a sweep, once for the levels of its options.

    Raises BadInput if the levels make no case.
    """
    if not any(map(file_system, sweep.factors.names("store"))):
        return ()
    of_cases = {(case.store, tuple(case.store_options.items())) for case in grid_of(sweep, CATALOGUE)[0]}
    return tuple((store, dict(levels)) for name, levels in sorted(of_cases) if (store := file_system(name)))


def least_room(sweep: Sweep, size_bytes: int) -> int | None:
    """Bytes of files that fit into every file system that the lab makes for a sweep; None if it makes none."""
    return min((store.room(levels).most_in(size_bytes) for store, levels in made_of(sweep)), default=None)


def count_devices(sweep: Sweep) -> int:
    """How many of the user's devices a sweep writes to."""
    return max((store.devices(levels) for store, levels in made_of(sweep)), default=0)


def caveats_of(sweep: Sweep) -> dict[str, str]:
    """By store, what figures with it cannot show at some of its levels in a sweep.

    Raises BadInput if the levels make no case.
    """
    caveats: dict[str, set[str]] = {}
    for store, levels in made_of(sweep):
        if caveat := store.caveat(levels):
            caveats.setdefault(store.name, set()).add(caveat)
    return {name: "; ".join(sorted(of_store)) for name, of_store in caveats.items()}


def check(platform: Platform, store: FileSystem, levels: Mapping[str, str], share: ShareConfig) -> None:
    """Raise Absent if the server cannot have such a file system, Unsupported if somebody could correct that."""
    role = platform.host.name
    if platform.name != store.platform:
        raise Absent(f"{role}: store {store.name} is made on {store.platform}, and the {role} runs {platform.name}")
    if platform.host.lacks_root:
        raise Unsupported(
            f"{role}: store {store.name}: only root makes and mounts it",
            "log in as root, or with sudo, or leave it out",
        )
    find_lack = store.find_lack(levels)
    lacking = first_line(find_lack.run(platform.host).strip(), 40) if find_lack else ""
    if lacking in (store.name, store.module and store.module.name) and store.module_package:
        install = platform.programs.how_to_install(store.module_package)
        raise Unsupported(
            f"{role}: store {store.name}: its kernel has no {lacking}",
            f"{install}, with the headers of its kernel, or take it out of the sweep",
        )
    if lacking:
        raise Absent(f"{role}: store {store.name}: its kernel has no {lacking}")
    for device in share.devices[: store.devices(levels)]:
        needed = share.image_size // store.devices(levels) + named_device.AT_END
        if why := named_device.read_reasons(platform.host, device, needed):
            raise Unsupported(f"{role}: {device} cannot be taken: {why}", named_device.HOW_TO_CLEAR)


def make(
    platform: Platform, store: FileSystem, directory: str, share: ShareConfig, levels: Mapping[str, str]
) -> Generator[Setting, None, MadeStore]:
    """Make a file system of this kind with these levels, in files in the lab's own folder ``directory`` or on devices.

    Raises LabFailure if the disk there has no room for the files, and SettingRefused if a level is not in effect.
    """
    path, role, size_bytes = folder_of(directory), platform.host.name, share.image_size
    devices = share.devices[: store.devices(levels)]
    if not devices and (free_bytes := platform.files.free_bytes(directory)) < size_bytes:
        raise LabFailure(
            f"{store.lies_in} of {size_label(size_bytes)}: no room in {directory}: {free_bytes} bytes are free",
            "a smaller image_size in [share] of the hosts file, or mount_base in [server] on a larger disk",
            host=role,
        )
    for module in store.modules(levels):
        if platform.host.shell(MODULE_IS_THERE, module.name).stdout.strip() == "no":
            yield operations.load(role, module)
    platform.host.run("mkdir", "-p", path)
    site = Site(platform.host, directory, path, platform.ram_disks.uid(), devices)
    yield from store.steps(site, size_bytes, levels)
    made = _read(platform, store, site, size_bytes, levels)
    if FILL not in store.options:
        return made
    filled, level = _fill(platform, path, made.capacity_bytes, fill_of(levels))
    all_levels = {**made.levels, f"{store.name}.{FILL}": level}
    return replace(made, description=f"{made.description}{filled}", levels=all_levels)


def _read(platform: Platform, store: FileSystem, site: Site, size_bytes: int, levels: Mapping[str, str]) -> MadeStore:
    """The store as the table of mounts and the file system's own programs describe it."""
    source, options = platform.parse(store.read_row, platform.host.run(*store.find_row(site.path).argv))
    printed = platform.host.shell(store.facts_script, site.path, source, root=True)
    mounted_with = dict(option.partition("=")[::2] for option in options.split(","))
    facts = platform.parse(lambda text: store.read_facts(text, mounted_with), printed)
    for name, level in levels.items():
        if name != FILL and facts.levels.get(name) != level:
            raise SettingRefused(
                f"{store.name}.{name} was set to {level} and reads back as {facts.levels.get(name, 'unknown')}",
                f"leave {level} out of the sweep",
                host=platform.host.name,
            )
    if site.devices:
        below = f"on {' '.join(site.devices)}"
    else:
        disk = platform.read(parse_source, "df", "-P", site.directory)
        below = f"in {store.lies_in} of {size_label(size_bytes)} on {disk}"
    return MadeStore(
        f"{facts.description}, {options}; {below}",
        {f"{store.name}.{name}": level for name, level in facts.levels.items()},
        platform.files.free_bytes(site.path),
        store.forget(site, levels), store.count(site, levels), store.find_fault(site),
    )  # fmt: skip


def _fill(platform: Platform, path: str, capacity_bytes: int, percent: int) -> tuple[str, str]:
    """Fill an empty file system, and write all of it out; returns a description, and the level.

    Raises SettingRefused if another share of it is in use then.
    """
    if not percent:
        return "", "0"
    size_bytes = capacity_bytes * percent // 100
    host, name = platform.host, payload_name("fill")
    file = f"{path}/{name}"
    host.run(*noise("make", file, size_bytes, name), deadline_s=deadline_s(size_bytes))
    script(FLUSH, file, deadline_s=deadline_s(size_bytes)).run(host)
    in_use = 100 - 100 * platform.files.free_bytes(path) / capacity_bytes
    if abs(in_use - percent) > FARTHEST_OFF:
        raise SettingRefused(
            f"a file system was to be filled to {percent} %, and {in_use:.0f} % of it are in use",
            f"leave {percent} out of the sweep",
            host=host.name,
        )
    return f"; filled to {in_use:.1f} %", str(percent)
