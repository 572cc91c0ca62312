"""The host's network interfaces under their names on a Mac: en0 is the data link."""

import _socket
import fcntl
import os
import struct

LINUX = {"lo0": "lo", "en0": "eth0"}
SYS, PROC = "/linux/sys/class/net", "/linux/proc/net"
FLAPPING = "/private/var/run/emulated_mac.flap"  # exists while the link is down after a change of the MTU
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCGIFADDR, SIOCGIFNETMASK, SIOCSIFMTU = 0x8913, 0x8914, 0x8915, 0x891B, 0x8922
SIOCSIFADDR, SIOCSIFNETMASK = 0x8916, 0x891C
IFF_UP, IFF_RUNNING = 0x1, 0x40
GLOBAL_SCOPE, LINK_SCOPE = "00", "20"  # of an IPv6 address, in Linux's table
IF_MINMTU, MAX_MTU = 72, 9000  # xnu: if_var.h; what a driver of Ethernet takes
# What media is called, by Mbit/s (xnu: if_media.h)
MEDIA = {10: "10baseT/UTP", 100: "100baseTX", 1000: "1000baseT", 2500: "2500Base-T", 5000: "5000Base-T",
         10000: "10Gbase-T"}  # fmt: skip


class Address:
    """An IPv4 address and its network; both are numbers."""

    def __init__(self, ip: int, mask: int):
        self.ip, self.mask = ip, mask
        self.network, self.broadcast = ip & mask, ip | ~mask & 0xFFFFFFFF
        self.prefix_length = mask.bit_count()

    def reaches(self, ip: int) -> bool:
        """Whether an address is on the same network."""
        return ip & self.mask == self.network


class Address6:
    """An IPv6 address as text, and the length of its network's prefix."""

    def __init__(self, text: str, prefix_length: int):
        self.text, self.prefix_length = text, prefix_length

    def reaches(self, text: str) -> bool:
        """Whether an address is on the same network."""
        return not (_number(self.text) ^ _number(text)) >> 128 - self.prefix_length


class Counters:
    """The counters of an interface, from a row of Linux's /proc/net/dev."""

    def __init__(self, row: list[int]):
        self.in_bytes, self.in_packets, self.in_errors, self.in_drops = row[:4]
        self.out_bytes, self.out_packets, self.out_errors = row[8:11]
        self.collisions = row[13]


class Interface:
    """An interface as it is now; ``name`` and ``index`` are the Mac's."""

    def __init__(self, name: str):
        linux = LINUX[name]
        flags = _flags(linux)
        self.name, self.index = name, list(LINUX).index(name) * 3 + 1
        self.mtu, self.mac = int(_read(linux, "mtu")), _read(linux, "address")
        self.is_up = bool(flags & IFF_UP) or os.path.exists(FLAPPING)  # noqa: PTH110
        self.is_active = bool(flags & IFF_UP and flags & IFF_RUNNING)
        self.address = _address(linux)
        local, *_ = [*(address.text for address in _addresses6(linux, LINK_SCOPE)), ""]
        self.local_ipv6 = local  # fe80::…, or empty
        self.ipv6 = _addresses6(linux, GLOBAL_SCOPE)
        self.mbit_per_s = _speed(linux)


def dotted_address(ip: int) -> str:
    """An IPv4 address as text."""
    return ".".join(str(byte) for byte in ip.to_bytes(4, "big"))


def without_brackets(host: str) -> str:
    """A server as its name or address: [fd00::1] is fd00::1."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def names() -> list[str]:
    """The interfaces that exist, in their order."""
    return [name for name, linux in LINUX.items() if os.path.isdir(f"{SYS}/{linux}")]  # noqa: PTH112


def find(name: str) -> Interface | None:
    """The interface with this name on a Mac."""
    return Interface(name) if name in names() else None


def counters(name: str) -> Counters:
    """The counters of an interface since it came up."""
    rows = (line.partition(":") for line in _lines(f"{PROC}/dev"))
    return next(Counters(list(map(int, rest.split()))) for head, _, rest in rows if head.strip() == LINUX[name])


def set_mtu(name: str, value: int) -> None:
    """Change the MTU as the caller. Raises OSError: EPERM, or EINVAL if kernel or driver refuse the value."""
    if os.geteuid() == 0 and not IF_MINMTU <= value <= (MAX_MTU if name != "lo0" else 65535):
        raise OSError(22, "Invalid argument")
    _ioctl(SIOCSIFMTU, struct.pack("16si", LINUX[name].encode(), value))


def set_address(name: str, address: Address) -> None:
    """Replace the address of an interface, as the caller. Raises OSError (EPERM)."""
    for number, value in ((SIOCSIFADDR, address.ip), (SIOCSIFNETMASK, address.mask)):
        words = (LINUX[name].encode(), _socket.AF_INET, 0, value.to_bytes(4, "big"))
        _ioctl(number, struct.pack("16sHH4s", *words))


def set_up(name: str, up: bool) -> None:
    """Bring an interface up or down, as the caller. Raises OSError (EPERM)."""
    flags = _flags(LINUX[name])
    flags_after = flags | IFF_UP if up else flags & ~IFF_UP
    _ioctl(SIOCSIFFLAGS, struct.pack("16sH", LINUX[name].encode(), flags_after))


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return file.read().splitlines()


def _read(linux: str, file: str) -> str:
    return _lines(f"{SYS}/{linux}/{file}")[0].strip()


def _ioctl(number: int, data: bytes) -> bytes:
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        return fcntl.ioctl(asking.fileno(), number, data.ljust(40, b"\0"))
    finally:
        asking.close()


def _flags(linux: str) -> int:
    flags: int = struct.unpack_from("H", _ioctl(SIOCGIFFLAGS, struct.pack("16s", linux.encode())), 16)[0]
    return flags


def _address(linux: str) -> Address | None:
    asked = struct.pack("16s", linux.encode())
    try:
        ip, mask = (int.from_bytes(_ioctl(number, asked)[20:24], "big") for number in (SIOCGIFADDR, SIOCGIFNETMASK))
    except OSError:
        return None
    return Address(ip, mask)


def _addresses6(linux: str, wanted: str) -> list[Address6]:
    """The IPv6 addresses of a scope."""
    addresses = []
    for line in _lines(f"{PROC}/if_inet6"):
        packed, _, length, scope, _, name = line.split()
        if name == linux and scope == wanted:
            text = _socket.inet_ntop(_socket.AF_INET6, bytes.fromhex(packed))
            addresses.append(Address6(text, int(length, 16)))
    return addresses


def _number(text: str) -> int:
    return int.from_bytes(_socket.inet_pton(_socket.AF_INET6, text), "big")


def _speed(linux: str) -> int:
    try:
        return int(_read(linux, "speed"))
    except (OSError, ValueError):
        return 0
