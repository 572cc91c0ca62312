"""ZFS: a pool in files of the lab's own, which share `[share] image_size`, or on devices."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from lab.base.units import parse_size, size_label
from lab.base.untrusted import count as parse_count
from lab.base.untrusted import word
from lab.design.option_levels import Option, one_of, whole
from lab.design.payload_size import MIB
from lab.hosts.command import Command, script
from lab.settings.operation import Setting
from lab.stores import named_device, zpool
from lab.stores.operations import CANNOT_WRITE, DEADLINE_S, KernelModule, LoopModule
from lab.stores.store import ABOUT_COMPRESSION, FILLABLE, Facts, FileSystem, Room, Site

KIB = 1024
RAIDS = ("stripe", "mirror", "raidz", "raidz2", "raidz3")
PARITY = {"raidz": 1, "raidz2": 2, "raidz3": 3}
LEAST_VDEVS = {"stripe": 1, "mirror": 2, "raidz": 2, "raidz2": 3, "raidz3": 4}  # zpoolconcepts(7): one more than parity
USUAL_VDEVS = {"stripe": 1, "mirror": 2, "raidz": 3, "raidz2": 4, "raidz3": 5}
MOST_VDEVS = 32
LEAST_VDEV_BYTES = 256 * MIB  # ZFS takes 64 MiB, of which little is left
USUAL_ASHIFT = 9  # in a file, whatever the disk below has (vdev_file_logical_ashift in zfs(4))
LARGEST_ASHIFT_OF_DISKS = 12  # that ZFS chooses by itself
USUAL_RECORD = 128 * KIB
LARGEST_RECORD = 16 * 1024 * KIB
# Without metadata and the slop space: 1/32 of the data, at least 128 MiB (spa_slop_shift in zfs(4))
WITHOUT_SLOP = 0.93
SLOP_BYTES = 160 * MIB
COMPRESSION = re.compile(r"off|on|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-(1?[1-9]|10))?")
FILES, LOOPS, NAMED, PARTITIONS = "files", "512e", "named", "partitions"
SAYS_512 = "512 4096"  # bytes of a sector: reported, and real
SHARED_DISK = "ZFS in files of one disk: bytes and processor time, not what several disks gain"
PROPERTIES = ("sync", "compression", "recordsize", "atime")
GROUP = re.compile(r"(mirror|raidz[123])-[0-9]+")
DEVICE = re.compile(r"^\t([^\t\n]+)\t", re.MULTILINE)
VALUE = re.compile(r"^([^\t\n]+)\t([a-z]+)\t([^\t\n]+)$", re.MULTILINE)


def compression(value: object) -> str:
    """A level of ``zfs.compression``. Raises ValueError."""
    if not isinstance(value, str) or not COMPRESSION.fullmatch(value):
        raise ValueError(
            'is not "default" or one of off, on, lz4, lzjb, zle, gzip, gzip-1 to gzip-9, zstd, zstd-1 to zstd-19'
        )
    return value


def recordsize(value: object) -> str:
    """A level of ``zfs.recordsize``. Raises ValueError."""
    size_bytes = parse_size(value)
    if not 512 <= size_bytes <= LARGEST_RECORD or size_bytes & (size_bytes - 1):
        raise ValueError('is not "default" or a power of two from 512 B to 16 MiB')
    return size_label(size_bytes)


class Zfs(FileSystem):
    """A pool in equal files or on devices, with one redundancy group. Other properties keep zpool's defaults."""

    name = "zfs"
    about = "A pool of ZFS in files of the lab's own, or on disks or partitions that you name."
    programs = MappingProxyType({"zpool": "zfsutils-linux", "zfs": "zfsutils-linux"})
    module = zpool.ZfsModule()
    module_package = "zfs-dkms"
    lies_in = "files"
    facts_script = zpool.FACTS
    options = MappingProxyType(
        {
            **FILLABLE,
            "ashift": Option(
                whole(9, 16),
                "The size of a sector as a power of two: 9 is 512 bytes, 12 is 4 KiB, 13 is 8 KiB. By default 9.",
            ),
            "raid": Option(
                one_of(*RAIDS),
                "How many files may be lost: none (`stripe`, the default), all but one (`mirror`), or one, two or "
                "three (`raidz`, `raidz2`, `raidz3`).",
            ),
            "vdevs": Option(
                whole(1, MOST_VDEVS),
                "How many files the pool is made of, which share `image_size`. By default 1 for `stripe`, 2 for "
                "`mirror`, 3, 4 and 5 for `raidz`, `raidz2` and `raidz3`.",
            ),
            "disks": Option(
                one_of(FILES, LOOPS, NAMED, PARTITIONS),
                "What the pool lies on: `files` (the default); disks that have sectors of 4 KiB and say 512 bytes "
                "(`512e`): loop devices over the same files, where a write of less than 4 KiB reads, changes and "
                "writes back all of these; the first of the `devices` in `[share]` of the hosts file, all of each "
                "(`named`); or a partition on each (`partitions`), from 1 MiB after its start to 1 MiB before its end.",
            ),
            "sync": Option(
                one_of("standard", "always", "disabled"),
                "When a program that asks for stable storage has it: when it asks (`standard`), with every write "
                "(`always`), or never (`disabled`).",
            ),
            "compression": Option(compression, ABOUT_COMPRESSION),
            "recordsize": Option(recordsize, "The largest block of a file. By default 128 KiB."),
            "atime": Option(
                one_of("off", "on"),
                "Whether a read is noted in the file. By default `off`, as with the lab's other file systems.",
            ),
        }
    )

    def conflict(self, levels: Mapping[str, str]) -> str:
        raid, vdevs = layout_of(levels)
        if vdevs < LEAST_VDEVS[raid]:
            return f"zfs with raid {raid} on vdevs {vdevs}: it takes {LEAST_VDEVS[raid]} or more"
        return ""

    def devices(self, levels: Mapping[str, str]) -> int:
        return layout_of(levels)[1] if levels.get("disks", FILES) in (NAMED, PARTITIONS) else 0

    def least_size(self, levels: Mapping[str, str]) -> int:
        return layout_of(levels)[1] * LEAST_VDEV_BYTES

    def caveat(self, levels: Mapping[str, str]) -> str:
        return SHARED_DISK if levels.get("disks", FILES) in (FILES, "512e") else ""

    def empty_room(self, levels: Mapping[str, str]) -> Room:
        return Room(data_share(levels) * WITHOUT_SLOP, SLOP_BYTES)

    def modules(self, levels: Mapping[str, str]) -> tuple[KernelModule, ...]:
        """See :meth:`FileSystem.modules`. 512e disks are loop devices."""
        return (self.module, LoopModule()) if levels.get("disks", FILES) == LOOPS else (self.module,)

    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        vdevs, pool = layout_of(levels)[1], _pool(site, levels)
        bytes_each = size_bytes // vdevs // MIB * MIB
        if site.devices:
            yield from _named_devices(site, pool.folder, bytes_each, levels["disks"])
        else:
            make = script(zpool.MAKE_FILES, _files(site), str(bytes_each), str(vdevs), root=True)
            yield Setting(site.role, zpool.VdevFiles(_files(site)), "present", (make,), CANNOT_WRITE, before="absent")
        if levels.get("disks", FILES) == LOOPS:
            yield zpool.loop_disks(site.role, _files(site), pool.folder)
        words = create_words(pool.name, pool.folder, site.path, levels)
        yield zpool.zpool(site.role, pool, site.path, site.uid, words)

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        levels = parse_zfs(printed)
        version = re.search(r"^version ([0-9a-zA-Z.~+-]{1,60})$", printed, re.MULTILINE)
        disks = {LOOPS: "512e disks", NAMED: "named devices"}.get(levels["disks"], levels["disks"])
        devices = f"{levels['raid']} of {levels['vdevs']} {disks}"
        details = f"{devices}, ashift {levels['ashift']}, sync {levels['sync']}"
        return Facts(f"zfs {version[1] if version else 'of unknown version'}, {details}", levels)

    def forget(self, site: Site, levels: Mapping[str, str]) -> Command:
        return zpool.forget(_pool(site, levels))

    def count(self, site: Site, levels: Mapping[str, str]) -> Command:
        return zpool.count(_pool(site, levels))

    def find_fault(self, site: Site) -> Command:
        return script(zpool.FAULT, site.name, *site.devices, root=True)


def layout_of(levels: Mapping[str, str]) -> tuple[str, int]:
    """The redundancy, and the number of files."""
    raid = levels.get("raid", "stripe")
    return raid, int(levels.get("vdevs", USUAL_VDEVS[raid]))


def data_share(levels: Mapping[str, str]) -> float:
    """The share of a pool that full blocks of files can use.

    A raidz block has parity for each row of sectors, and is padded to a multiple of parity + 1 sectors
    (vdev_raidz_asize in vdev_raidz.c).
    """
    raid, vdevs = layout_of(levels)
    if raid not in PARITY:
        return 1 / vdevs if raid == "mirror" else 1.0
    usual_ashift = USUAL_ASHIFT if levels.get("disks", FILES) in (FILES, LOOPS) else LARGEST_ASHIFT_OF_DISKS
    parity, sector = PARITY[raid], 1 << int(levels.get("ashift", usual_ashift))
    record = parse_size(levels["recordsize"]) if "recordsize" in levels else USUAL_RECORD
    sectors = -(-record // sector)
    with_parity = sectors + parity * -(-sectors // (vdevs - parity))
    return sectors / (-(-with_parity // (parity + 1)) * (parity + 1))


def create_words(name: str, folder: str, path: str, levels: Mapping[str, str]) -> tuple[str, ...]:
    """The command that makes a pool. Without -f it refuses files of another pool, and a folder with files in it.

    With ``failmode=continue``, writers get an error and do not hang.
    """
    raid, vdevs = layout_of(levels)
    pool = {"cachefile": "none", "failmode": "continue"}
    pool |= {"ashift": levels["ashift"]} if "ashift" in levels else {}
    mounted = {"setuid": "off", "devices": "off", "atime": "off"}
    mounted |= {key: levels[key] for key in PROPERTIES if key in levels}
    if "recordsize" in levels:
        mounted["recordsize"] = str(parse_size(levels["recordsize"]))
    properties = [("-o", f"{key}={value}") for key, value in pool.items()]
    properties += [("-O", f"{key}={value}") for key, value in mounted.items()]
    group = () if raid == "stripe" else (raid,)
    devices = (f"{folder}/vdev-{number}" for number in range(1, vdevs + 1))
    return ("zpool", "create", *(text for pair in properties for text in pair), "-m", path, name, *group, *devices)


def parse_zfs(text: str) -> dict[str, str]:
    """The levels of all options, from what zpool and zfs print. Raises ValueError."""
    devices = DEVICE.findall(text)
    files = [device for device in devices if device.startswith("/")]
    groups = {match[1] for device in devices if (match := GROUP.fullmatch(device))}
    if not files or len(groups) > 1:
        raise ValueError("no devices of a pool, or groups of several kinds")
    levels = {"raid": next(iter(groups), "stripe").replace("raidz1", "raidz"), "vdevs": str(len(files))}
    values: list[tuple[str, str, str]] = VALUE.findall(text)
    levels["disks"] = _parse_disks(values, files)
    properties = {key: word(value) for _, key, value in values if key in PROPERTIES}
    if properties.keys() != set(PROPERTIES):
        raise ValueError("no sync, compression, recordsize or atime")
    properties["recordsize"] = size_label(parse_count(properties["recordsize"]))
    return {"ashift": _parse_ashift(values, devices), **levels, **properties}


def _parse_disks(values: list[tuple[str, str, str]], devices: list[str]) -> str:
    """The kind of all devices: from the sectors of loop devices, or the mark's place on named devices."""
    by_device = {
        name: LOOPS if value == SAYS_512 else value for name, key, value in values if key in ("sectors", "disks")
    }
    kinds = {by_device.get(device, FILES) for device in devices}
    if kinds - {FILES, LOOPS, NAMED, PARTITIONS} or len(kinds) != 1:
        raise ValueError("devices of no kind that the lab makes pools of, or of several kinds")
    return kinds.pop()


def _parse_ashift(values: list[tuple[str, str, str]], devices: list[str]) -> str:
    """The one ashift of all devices below the pool, or of the pool if ZFS does not name theirs."""
    by_name = {name: value for name, key, value in values if key == "ashift"}
    groups = [device for device in devices if GROUP.fullmatch(device)]
    below = groups or [device.removeprefix("/dev/") for device in devices]  # as `zpool get` names them
    shifts = {by_name[device] for device in below if device in by_name} or set(by_name.values())
    if len(shifts) != 1:
        raise ValueError("no ashift, or several")
    return str(parse_count(shifts.pop()))


def _files(site: Site) -> str:
    return f"{site.directory}/store.vdevs"


def _pool(site: Site, levels: Mapping[str, str]) -> zpool.Zpool:
    """The pool has the random name of the lab's folder, so that a list of pools shows whose it is."""
    disks, nodes = levels.get("disks", FILES), f"/dev/{site.name}"
    if disks == LOOPS:
        return zpool.ZpoolOnDisks(site.name, nodes, _files(site))
    return zpool.Zpool(site.name, _files(site) if disks == FILES else nodes)


def _named_devices(site: Site, folder: str, bytes_each: int, disks: str) -> Iterator[Setting]:
    """Take the site's devices, and make a node of each in ``folder``."""
    part: Literal["whole", "partition"] = "partition" if disks == PARTITIONS else "whole"
    for number, device in enumerate(site.devices, 1):
        yield named_device.named_device(site.role, device, site.name, bytes_each + named_device.AT_END)
        node = named_device.DeviceNode(f"{folder}/vdev-{number}", device, part, site.name)
        words = (node.node, node.device, node.part, node.mark)
        make = script(named_device.MAKE_NODE, *words, root=True, deadline_s=DEADLINE_S)
        remedy = "see what the kernel of that host says (`dmesg`), or leave the level of zfs.disks out of the sweep"
        yield Setting(site.role, node, "present", (make,), remedy)


STORE = Zfs()
