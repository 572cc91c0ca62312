"""Reading what the commands of macOS print: pure functions, which raise ValueError for what they cannot read."""

import plistlib
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_interface
from xml.parsers.expat import ExpatError

from lab.base.addresses import Interface
from lab.base.untrusted import count, first_line, match_of
from lab.hosts.fields import interface_name

SECTOR_BYTES = 512
PAGE_SECTORS = 8  # HFS+ allocates 4096 bytes at a time
HARDWARE = ("hw.memsize", "hw.ncpu", "machdep.cpu.brand_string")

ABOUT_HARDWARE = ("hw.model", "hw.physicalcpu", "hw.perflevel0.physicalcpu")
ABOUT = {
    "model": r"^hw\.model: (.+)$",
    "physical_cores": r"^hw\.physicalcpu: (\d+)$",
    "performance_cores": r"^hw\.perflevel0\.physicalcpu: (\d+)$",
    "power": r"drawing from '(.*?)'",
    "lowpowermode": r"^\s+lowpowermode\s+(\d+)",
    "powermode": r"^\s+powermode\s+(\d+)",
    "sleep_minutes": r"^\s+sleep\s+(\d+)",
    "time_machine_running": r"^\s*Running = (\d);",
    "spotlight": r"^\s+Indexing (?:and searching )?(enabled|disabled)",
}


UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
UNKNOWN_RATE = 4_290_000_000  # 2^32 − 1 bits a second, rounded: the driver knows none


@dataclass(frozen=True)
class Link:
    """What ``ifconfig -v`` says of an interface (None: nothing); ``kind``, from 10.9 on, is in English."""

    mtu: int
    addresses: tuple[str, ...]
    bits_per_s: int | None
    duplex: str | None
    kind: str | None
    max_mtu: int | None


@dataclass(frozen=True)
class Memory:
    """Bytes that programs can get without swapping; bytes swapped out since the start, None if not told."""

    available_bytes: int
    swapped_bytes: int | None


@dataclass(frozen=True)
class Image:
    """An attached disk image: where it comes from, who attached it, its devices and where they are mounted."""

    path: str
    owner_uid: int | None
    sectors: int | None
    devices: tuple[str, ...]
    mounted_at: tuple[str, ...]


def parse_sw_vers(text: str) -> str:
    """Name, version and build, as ``Mac OS X 10.6.8 (10K549)`` or ``macOS 26.4.1 (25E253)``."""
    values = dict(re.findall(r"^(\w+):\s+(.*?)\s*$", text, re.MULTILINE))
    try:
        name, version, build = (values[f"{key}"] for key in ("ProductName", "ProductVersion", "BuildVersion"))
    except KeyError as error:
        raise ValueError(f"no {error.args[0]}") from error
    extra = values.get("ProductVersionExtra", "")  # of a rapid security response: (a)
    return " ".join(part for part in (name, version, extra, f"({build})") if part)


def parse_sysctl(text: str, needed: Sequence[str] = ()) -> dict[str, str]:
    """Values by name, of lines ``name: value``; each of ``needed`` must be there."""
    values = dict(re.findall(r"^([\w.]+): (.+?)\s*$", text, re.MULTILINE))
    missing = [name for name in needed if name not in values]
    if missing:
        raise ValueError(f"no value of {', '.join(missing)}")
    return values


def parse_sizes(text: str, needed: Sequence[str]) -> dict[str, int]:
    """Values that are numbers, of sysctl; each of ``needed`` must be there."""
    return {name: count(parse_sysctl(text, needed)[name]) for name in needed}


def parse_hardware(text: str) -> tuple[int, int, str]:
    """Bytes of memory, cores and the name of the processor, of ``sysctl`` and the names in HARDWARE."""
    memory, cores, processor = (parse_sysctl(text, HARDWARE)[name] for name in HARDWARE)
    return count(memory), count(cores), first_line(processor)


def parse_about(text: str) -> dict[str, str]:
    """What ABOUT looks for in the output of sysctl, pmset, tmutil and mdutil; what is not there is left out."""
    matches = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in ABOUT.items()}
    return {name: first_line(match[1]) for name, match in matches.items() if match}


def parse_route(text: str) -> str:
    """The interface, of ``route -n get``. It exits 0 where there is no route, too, and names no interface then."""
    return interface_name(match_of(r"^\s*interface: (\S+)\s*$", text, "no interface")[1])


def parse_ifconfig(text: str) -> Link:
    """The one interface that ``ifconfig -v NAME`` shows."""
    mtu = match_of(r"\A\S+: flags=\S+ mtu ([0-9]{1,9})\b", text, "no MTU")
    duplex = re.search(r"^\s+media: .*<(?:.*,)?(full|half)-duplex", text, re.MULTILINE)
    kind = re.search(r"^\s+type: (.+)$", text, re.MULTILINE)
    most = re.search(r"^\s+max mtu: ([0-9]{1,9})\b", text, re.MULTILINE)
    addresses = tuple(re.findall(r"^\s+inet6? ([0-9a-fA-F.:]+)", text, re.MULTILINE))
    return Link(
        int(mtu[1]), addresses, _speed(text) or _link_rate(text), duplex[1] if duplex else None,
        first_line(kind[1]) if kind else None, int(most[1]) if most else None,
    )  # fmt: skip


def parse_networks(text: str) -> dict[str, tuple[Interface, ...]]:
    """The addresses of each interface, with their networks, of ``ifconfig -a``; of a tunnel its own end."""
    v4 = re.compile(r"^\s+inet ([0-9.]{7,15})(?: --> \S+)? netmask 0x([0-9a-f]{8})\b", re.MULTILINE)
    v6 = re.compile(r"^\s+inet6 ([0-9a-fA-F:]{2,45})(?:%\S+)?(?: --> \S+)? prefixlen ([0-9]{1,3})\b", re.MULTILINE)
    return {
        name: (
            *(ip_interface(f"{address}/{IPv4Address(int(mask, 16))}") for address, mask in v4.findall(block)),
            *(ip_interface(f"{address}/{length}") for address, length in v6.findall(block)),
        )
        for name, block in _interfaces(text)
    }


def _interfaces(text: str) -> Iterator[tuple[str, str]]:
    blocks = re.split(r"^(\S+): flags=", text, flags=re.MULTILINE)
    if len(blocks) < 3:
        raise ValueError("no interfaces")
    yield from zip(blocks[1::2], blocks[2::2], strict=True)


def parse_ports(text: str) -> dict[str, str]:
    """The kind of port of each interface, such as ``Wi-Fi``, of ``networksetup -listallhardwareports``."""
    kinds = re.findall(r"^Hardware Port: (.*?)\s*\nDevice: (\S+)", text, re.MULTILINE)
    if not kinds:
        raise ValueError("no hardware ports")
    return {device: kind for kind, device in kinds}


def _speed(text: str) -> int | None:
    """Bits per second: what is in use stands last in the media line, after what was chosen."""
    media = re.search(r"^\s+media: (.*)$", text, re.MULTILINE)
    if not media or "(none)" in media[1]:
        return None
    speeds = re.findall(r"([0-9]{1,9}(?:\.[0-9])?)(G?)[bB]ase", media[1])
    return round(float(speeds[-1][0]) * (10**9 if speeds[-1][1] else 10**6)) if speeds else None


def parse_rate(text: str, name: str = "(?:up)?link") -> int | None:
    """Bits per second of ``ifconfig -v``, from 10.9 on: the last rate of a line ``link rate`` or ``uplink rate``.

    If the line has several rates, the first is the driver's estimate of what is left for data.
    """
    line = re.search(rf"^\s+{name} rate: (.*)$", text, re.MULTILINE)
    rates = re.findall(r"([0-9]{1,6}\.[0-9]{2}) ([KMG])bps", line[1]) if line else []
    return round(float(rates[-1][0]) * UNITS[rates[-1][1]]) if rates else None


def _link_rate(text: str) -> int | None:
    """Bits per second that the driver tells, where the medium has no name."""
    rate = parse_rate(text)
    return rate if "status: active" in text and rate != UNKNOWN_RATE else None


def parse_mtu_range(text: str) -> tuple[int | None, int | None]:
    """The least and the most that an MTU may be, of ``networksetup -listvalidMTUrange``; None where it does not say."""
    match = re.search(r"^Valid MTU Range: ([0-9]{1,9})-([0-9]{1,9})\s*$", text, re.MULTILINE)
    return (int(match[1]), int(match[2])) if match else (None, None)


def parse_memory(text: str) -> Memory:
    """Parse ``vm_stat``. Before 10.9 swapped pages are in Pageouts, later in Swapouts."""
    page = re.search(r"page size of ([0-9]{1,9}) bytes", text)
    rows = dict(re.findall(r"^(Pages (?:free|speculative|inactive)|Pageouts|Swapouts): +([0-9]{1,15})\.", text, re.M))
    free = [name for name in rows if name.startswith("Pages ")]
    if not page or len(free) != 3:
        raise ValueError("no page size, or no count of free, speculative and inactive pages")
    swapped = rows.get("Swapouts", rows.get("Pageouts"))
    size = int(page[1])
    return Memory(size * sum(int(rows[name]) for name in free), size * int(swapped) if swapped else None)


def parse_plist(text: str) -> object:
    """The content of a property list in XML. Raises ValueError."""
    try:
        return plistlib.loads(text.encode(), fmt=plistlib.FMT_XML)
    except (ExpatError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, ValueError) as error:
        raise ValueError(f"not a property list: {error}") from error


def parse_images(text: str) -> list[Image]:
    """Every attached disk image, of ``hdiutil info -plist``."""
    content = parse_plist(text)
    if not isinstance(content, dict) or "framework" not in content:
        raise ValueError("not the output of hdiutil info")
    images = content.get("images", [])
    if not isinstance(images, list):
        raise ValueError("no list of images")
    return [_image(entry) for entry in images]


def _image(entry: object) -> Image:
    """One image. Recent versions list images without a device, such as a simulator's, with fewer keys."""
    entities = entry.get("system-entities", []) if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(entities, list):
        raise ValueError("an image that is no dictionary")
    if not all(isinstance(entity, dict) for entity in entities):
        raise ValueError("a system-entity that is no dictionary")
    owner, sectors = entry.get("owner-uid"), entry.get("blockcount")
    return Image(
        path=str(entry.get("image-path", "")),
        owner_uid=owner if isinstance(owner, int) else None,
        sectors=sectors if isinstance(sectors, int) else None,
        devices=tuple(str(entity["dev-entry"]) for entity in entities if "dev-entry" in entity),
        mounted_at=tuple(str(entity["mount-point"]) for entity in entities if "mount-point" in entity),
    )


def parse_volume(text: str) -> str:
    """The device of a volume that is on another disk than the image."""
    return match_of(r"\A(/dev/disk[0-9]+s[0-9]+)\s*\Z", text, "no device of a volume")[1]


def image_sectors(size_bytes: int, place: str, taken: Collection[str]) -> int:
    """How many sectors a RAM image of ``size_bytes`` gets: a number that no attached image has.

    Only its length tells one RAM image from another. So an image gets up to 4 MiB more, depending on its mount point:
    the journal finds the image again by this number.
    """
    pages = -(-size_bytes // (PAGE_SECTORS * SECTOR_BYTES)) + zlib.crc32(place.encode()) % 1024
    while f"ram://{pages * PAGE_SECTORS}" in taken:
        pages += 1
    return pages * PAGE_SECTORS


def prove_ours(images: Sequence[Image], source: str, sectors: int, uid: int) -> str:
    """The device of the image that we have just attached, and that may therefore be written to.

    ``source`` is what hdiutil calls it by. Raises ValueError unless exactly one image has this source. It must have
    this length, be attached by this user, be one device, and have nothing mounted.
    """
    matches = [image for image in images if image.path == source]
    if len(matches) != 1:
        raise ValueError(f"{len(matches)} images are {source}, so none is certainly ours")
    image = matches[0]
    if image.owner_uid != uid or image.sectors != sectors:
        raise ValueError(f"{source} belongs to user {image.owner_uid} and has {image.sectors} sectors: not ours")
    if image.mounted_at or len(image.devices) != 1 or not re.fullmatch(r"/dev/disk\d+", image.devices[0]):
        raise ValueError(f"{source} is in use already: {image.devices} mounted at {image.mounted_at}")
    return image.devices[0]
