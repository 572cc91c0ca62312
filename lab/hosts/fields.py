"""Types of the values in hosts files and sweeps: ports, names, paths, addresses."""

import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator

from lab.base.units import parse_seconds

INTERFACE = r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}"
ZONE = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}"
NO_HOST, BROADCAST = ipaddress.ip_network("0.0.0.0/8"), ipaddress.ip_address("255.255.255.255")  # RFC 1122, 3.2.1.3
IPERF3_PORT = 5201
LEAST_LEASE_S, MOST_LEASE_S = 30, 24 * 3600
LONGEST_NAME = 255  # bytes of one name in a path
# patterns of names; ciphers such as aes128-cbc are recognised by their ending
SSH_ALGORITHMS = {
    "kex": r"(diffie-hellman|ecdh|curve25519)-.+",
    "key": r"(ssh|ecdsa|rsa)-.+",
    "cipher": r".+-(cbc|ctr)|arcfour.*",
    "mac": r"(hmac|umac)-.+",
}


def parse_port(value: object) -> int:
    """A TCP port; ValueError otherwise."""
    digits = str(value)
    if not re.fullmatch(r"[0-9]{1,5}", digits) or not 1 <= int(digits) <= 65535:
        raise ValueError("is not a port from 1 to 65535")
    return int(digits)


def parse_lease(value: object) -> float | None:
    """Seconds of a lease, None for ``off``; ValueError otherwise."""
    if value == "off":
        return None
    try:
        seconds = parse_seconds(value)
    except ValueError:
        seconds = 0
    if not LEAST_LEASE_S <= seconds <= MOST_LEASE_S:
        raise ValueError("is not off, or a time from 30 s to 24 h")
    return seconds


def password_source(value: str) -> str:
    """Where a password comes from; ValueError for anything else."""
    if not re.fullmatch(r"prompt|(env|file|keyring):.+", value):
        raise ValueError("is prompt, env:VARIABLE, file:PATH or keyring:SERVICE; a password itself never stands here")
    return value


def _matching(pattern: str, problem: str) -> Callable[[str], str]:
    """A check that returns printable text matching the pattern, and raises ValueError with ``problem`` otherwise."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value) or not value.isprintable():
            raise ValueError(problem)
        return value

    return check


# ssh takes an alias of ~/.ssh/config as a host name, too
host_name = _matching(
    r"""(?!-)[^\s'"`$\\;/&<>|(){}]+""",
    "is not the name of a host: ssh takes none with spaces, quotes or signs of the shell",
)
user_name = _matching(
    r"""(?!-)[^\s'"`;:/%&<>|(){}]+(?<!\\)""",
    "is not the name of an account: ssh takes none with spaces, quotes or signs of the shell",
)
# becomes part of a path in /sys
interface_name = _matching(INTERFACE, "is not the name of an interface such as eth0 or en0")
# the name of a share, and an account, that the lab's own servers can be given
plain_name = _matching(
    r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]| (?! )){0,63}",
    "is, with serve = lab, 1 to 64 letters, digits, and, not at its beginning, dots, - or spaces",
)
plain_account = _matching(r"\w[\w.-]*", "is, with serve = lab, letters, digits, and, not at its beginning, dots or -")
# an account of any file server
account_name = _matching(
    r"(?!-)[^:/;@]{1,255}", "is not an account: it is printed, begins with no -, and has none of : / ; @"
)


def algorithm_kind(name: str) -> str:
    """The kind of an SSH algorithm: ``kex``, ``key``, ``cipher`` or ``mac``; ValueError for any other word."""
    if re.fullmatch(r"[a-z0-9][a-z0-9@.-]*", name):
        for kind, pattern in SSH_ALGORITHMS.items():
            if re.fullmatch(pattern, name):
                return kind
    raise ValueError(f"has {name!r:.80}, which is no algorithm of SSH such as ssh-rsa or diffie-hellman-group14-sha1")


def _algorithms(value: str | Sequence[str]) -> tuple[str, ...]:
    names = tuple(value.split() if isinstance(value, str) else value)
    for name in names:
        algorithm_kind(name)
    return names


def absolute(value: str) -> str:
    """A full path, or a path below ``~``, without needless slashes; ValueError otherwise."""
    if not re.fullmatch(r"/.*|~(/.*)?", value):
        raise ValueError("is not a full path such as /srv/lab, or ~/lab for the home of the account that logs in there")
    if not value.isprintable():
        raise ValueError("has a character that cannot be seen")
    parts = [part for part in value.split("/")[1:] if part]
    if {".", ".."} & set(parts):
        raise ValueError("has a . or .. in it; a table of mounts would show another path")
    if any(len(part.encode()) > LONGEST_NAME for part in parts):
        raise ValueError(f"has a name of more than {LONGEST_NAME} bytes in it, which no file system holds")
    return "/".join([value.split("/")[0], *parts]) or "/"


def device_path(value: str) -> str:
    """The full path of a device below /dev; ValueError otherwise."""
    if not re.fullmatch(r"/dev(/[A-Za-z0-9_][A-Za-z0-9_.:+@=-]{0,254}){1,6}", value):
        examples = "/dev/sdb, /dev/disk/by-id/ata-X"
        raise ValueError(f"has {value!r:.80}, which is not the path of a device such as {examples}")
    return value


def _devices(value: str | Sequence[str]) -> tuple[str, ...]:
    paths = tuple(device_path(path) for path in (value.split() if isinstance(value, str) else value))
    if len(set(paths)) < len(paths):
        raise ValueError("names a device twice")
    return paths


def plain_folder(value: str) -> str:
    """A full path that the configuration of every server and client can express; ValueError otherwise."""
    if re.search(r"""["\\%]|\$\{|  """, absolute(value)):
        raise ValueError('cannot have ", \\, %, ${ or two spaces in a row: the settings of some server cannot say it')
    return absolute(value)


def share_name(value: str) -> str:
    """The name under which clients find a share; ValueError otherwise."""
    if not value.isprintable() or re.search(r"[/\\]", value) or value in ("", ".", ".."):
        raise ValueError("is not the name of a share: it is printed, and has neither / nor \\ in it")
    if len(value.encode()) > LONGEST_NAME:
        raise ValueError(f"has more than {LONGEST_NAME} bytes")
    return value


def _address(value: str) -> str:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        raise ValueError("is no IP address, such as 192.168.77.1; a name may lead over another link") from None
    check_zone(address)
    inner = getattr(address, "ipv4_mapped", None) or address
    if inner.is_unspecified or (inner.version == 4 and inner in NO_HOST):
        raise ValueError("is the address of no host: it stands for any; give the one that the host has on this link")
    if inner.is_multicast or inner == BROADCAST:
        raise ValueError("is an address of many hosts at once; give the one that the host itself has on this link")
    return str(address)


def check_zone(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    """Raise ValueError if the zone of an IPv6 address is not the name of an interface."""
    zone = getattr(address, "scope_id", None)
    if zone is not None and not re.fullmatch(ZONE, zone):
        raise ValueError("has something after the % that is not the name of an interface, such as fe80::1%eth0")


def parse_iperf3(value: str) -> tuple[str, int] | Literal["off"]:
    """``off``, or address and port of ``ADDRESS`` (port 5201, iperf3's own), ``ADDRESS:PORT``, ``[ADDRESS]:PORT``."""
    if value == "off":
        return "off"
    match = re.fullmatch(r"\[([^]]+)\](?::([0-9]+))?|([^:]+)(?::([0-9]+))?", value)
    if not match and ":" in value:
        return _address(value), IPERF3_PORT  # IPv6 without brackets
    if not match:
        raise ValueError("is neither off nor an address such as 192.168.77.2, or 192.168.77.2:5201")
    return _address(match[1] or match[3]), parse_port(match[2] or match[4] or IPERF3_PORT)


def is_loopback(address: str) -> bool:
    """Whether an address leads back to the host itself."""
    parsed = ipaddress.ip_address(address)
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


def _instance(value: str | None) -> str | None:
    if value and not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}/[0-9a-f]+", value):
        raise ValueError("is not NAME/TOKEN as `lab local up` writes it; a file for real machines has no such key")
    return value or None


Port = Annotated[int, BeforeValidator(parse_port)]
Address = Annotated[str, AfterValidator(_address)]
Iperf3Server = Annotated[tuple[str, int] | Literal["off"], BeforeValidator(parse_iperf3)]
ShareSubfolder = Annotated[str, AfterValidator(lambda value: absolute(f"/{value}").strip("/") if value else "")]
Absolute = Annotated[str, AfterValidator(absolute)]
PlainFolder = Annotated[str, AfterValidator(plain_folder)]
HostName = Annotated[str, AfterValidator(host_name)]
UserName = Annotated[str, AfterValidator(user_name)]
ShareName = Annotated[str, AfterValidator(share_name)]
AccountName = Annotated[str, AfterValidator(account_name)]
SshAlgorithms = Annotated[tuple[str, ...], BeforeValidator(_algorithms)]
DevicePaths = Annotated[tuple[str, ...], BeforeValidator(_devices)]
Interface = Annotated[str, AfterValidator(interface_name)]
PasswordSource = Annotated[str, AfterValidator(password_source)]
Lease = Annotated[float | None, BeforeValidator(parse_lease)]
Instance = Annotated[str | None, AfterValidator(_instance)]
