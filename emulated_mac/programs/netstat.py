"""netstat(1): counters of interfaces, connections, TCP statistics (network_cmds: if.c, inet.c)."""

import _socket
import os

from .. import bsd_getopt, processes, profiles
from ..interfaces import Counters, Interface, counters, dotted_address, find, names

USAGE = """\
Usage:\tnetstat [-AaLlnW] [-f address_family | -p protocol]
\tnetstat [-gilns] [-f address_family]
\tnetstat -i | -I interface [-w wait] [-abdgRtS]
\tnetstat -s [-s] [-f address_family | -p protocol] [-w wait]
\tnetstat -i | -I interface -s [-f address_family | -p protocol]
\tnetstat -m [-m]
\tnetstat -r [-Aaln] [-f address_family]
\tnetstat -rs [-s]"""
MAPPED = "0000000000000000FFFF0000"  # the prefix of an IPv4 address in /proc/net/tcp6
STATES = ("", "ESTABLISHED", "SYN_SENT", "SYN_RCVD", "FIN_WAIT_1", "FIN_WAIT_2", "TIME_WAIT", "CLOSED", "CLOSE_WAIT",
          "LAST_ACK", "LISTEN", "CLOSING")  # fmt: skip


def main(argv: list[str]) -> int:
    """One of the displays."""
    options, words = bsd_getopt.parse("netstat", argv, "AabdFf:gI:ikLlmnP:p:qRrSstuvWw:xz", USAGE)
    values, flags = dict(options), {letter for letter, _ in options}
    if words or flags & {"w", "m", "r", "g"}:
        bsd_getopt.fail_as_not_emulated("netstat", " ".join(argv))
    if "I" in flags or "i" in flags:
        return _interfaces(values.get("I"), flags)
    if "s" in flags:
        return _statistics(values.get("p"))
    return _connections(values, flags)


def _interfaces(only: str | None, flags: set[str]) -> int:
    """The rows of each interface: its link, then its addresses without errors. Up to 10.9 names have 5 columns."""
    wide = profiles.current().number >= (10, 10)
    column = "%-10.10s" if wide else "%-5.5s"
    head = f"{column % 'Name'} {'Mtu':<5.5} {'Network':<13.13} {'Address':<15.15} {'Ipkts':>8.8} {'Ierrs':>5.5}"
    head += f" {'Ibytes':>10.10}" if "b" in flags else ""
    head += f" {'Opkts':>8.8} {'Oerrs':>5.5}" + (f" {'Obytes':>10.10}" if "b" in flags else "") + f" {'Coll':>5}"
    print(head + (" Drop" if "d" in flags else ""))
    for name in names():
        interface = find(name)
        if interface is not None and only in (None, name):
            for network, address, is_link in _rows(interface):
                print(_row(column, interface, network, address, is_link, counters(name), flags))
    return 0


def _rows(interface: Interface) -> list[tuple[str, str, bool]]:
    """(network, address, whether it is the row of the link)."""
    if interface.name == "lo0":
        return [("<Link#1>", "", True), ("127", "127.0.0.1", False), ("::1/128", "::1", False)]
    rows = [(f"<Link#{interface.index}>", interface.mac, True)]
    if interface.address:
        length = interface.address.prefix_length
        octets = dotted_address(interface.address.network).split(".")[: -(-length // 8)]
        rows.append((f"{'.'.join(octets)}/{length}", dotted_address(interface.address.ip), False))
    return rows + [(f"{own.text}/{own.prefix_length}", own.text, False) for own in interface.ipv6]


def _row(
    column: str, interface: Interface, network: str, address: str, is_link: bool, count: Counters, flags: set[str]
) -> str:
    name = interface.name + ("" if interface.is_up else "*")
    text = f"{column % name} {interface.mtu:<5} "
    if ":" in address and not is_link:
        text += f"{network:<11.11} {address:<17.17} "
    else:
        text += f"{network:<13.13} "
        text += f"{address:<17.17} " if is_link else f"{address:<15.15} " if len(address) <= 15 else f"{address} "
    text = text.rstrip(" ") + " " * max(1, len(text) - len(text.rstrip(" ")))

    def errors(number: int) -> str:
        return f"{number if is_link else '-':>5}"

    text += f"{count.in_packets:>8} {errors(count.in_errors)}" + (f" {count.in_bytes:>10}" if "b" in flags else "")
    text += f" {count.out_packets:>8} {errors(count.out_errors)}" + (f" {count.out_bytes:>10}" if "b" in flags else "")
    text += f" {errors(count.collisions)}"
    return text + (f" {count.in_drops if is_link else '-':>4}" if "d" in flags else "")


def _statistics(protocol: str | None) -> int:
    """TCP statistics; without root a Mac's kernel gives zeros (xnu: tcp_getstat)."""
    if protocol not in (None, "tcp"):
        bsd_getopt.fail_as_not_emulated("netstat", f"-s -p {protocol}")
    is_root = os.geteuid() == 0
    head, row = [line.split()[1:] for line in processes.read("net/snmp").splitlines() if line.startswith("Tcp:")]
    counts = {name: int(value) if is_root else 0 for name, value in zip(head, row, strict=True)}
    sent, resent, received = counts["OutSegs"] + counts["RetransSegs"], counts["RetransSegs"], counts["InSegs"]
    mean = 1000  # Linux does not count TCP's bytes
    print(
        f"tcp:\n\t{sent} packet{_plural(sent)} sent\n"
        f"\t\t{counts['OutSegs']} data packet{_plural(counts['OutSegs'])} ({counts['OutSegs'] * mean} bytes)\n"
        f"\t\t{resent} data packet{_plural(resent)} ({resent * mean} bytes) retransmitted\n"
        f"\t\t0 resends initiated by MTU discovery\n\t\t0 ack-only packets (0 delayed)\n"
        f"\t{received} packet{_plural(received)} received\n"
        f"\t{counts['ActiveOpens']} connection request{_plural(counts['ActiveOpens'])}\n"
        f"\t{counts['PassiveOpens']} connection accept{_plural(counts['PassiveOpens'])}"
    )
    return 0


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def _connections(values: dict[str, str], flags: set[str]) -> int:
    if values.get("f", "inet") != "inet" or values.get("p", "tcp") != "tcp":
        bsd_getopt.fail_as_not_emulated("netstat", f"-f {values.get('f')} -p {values.get('p')}")
    print(f"Active Internet connections{' (including servers)' if 'a' in flags else ''}")
    print(f"{'Proto':<5} {'Recv-Q':<6} {'Send-Q':<6}  {'Local Address':<22} {'Foreign Address':<22} {'(state)'}")
    lines = [line for file in ("net/tcp", "net/tcp6") for line in processes.read(file).splitlines()[1:]]
    for line in lines:
        _, local, peer, state, queues, *_ = line.split()
        name = STATES[int(state, 16)]
        if name == "LISTEN" and "a" not in flags:
            continue
        sending, receiving = (int(part, 16) for part in queues.split(":"))
        here, there = _address_of_end(local), _address_of_end(peer)
        print(f"{_protocol_of(local, state):<5} {receiving:>6} {sending:>6}  {here:<22} {there:<22} {name}")
    return 0


def _protocol_of(local: str, state: str) -> str:
    """``tcp46`` for a socket that listens on both families; an IPv4 connection is ``tcp4`` on any socket."""
    packed = local.split(":")[0]
    if len(packed) == 8 or packed[:24] == MAPPED:
        return "tcp4"
    return "tcp46" if int(packed, 16) == 0 and STATES[int(state, 16)] == "LISTEN" else "tcp6"


def _address_of_end(text: str) -> str:
    """An end of a connection as 10.0.0.1.22, or ``*.22`` for any address; a long IPv6 address is cut off."""
    packed, port = text.split(":")
    if len(packed) == 8 or packed[:24] == MAPPED:
        address = _socket.inet_ntoa(bytes.fromhex(packed[-8:])[::-1])
    else:
        words = (bytes.fromhex(packed[at : at + 8])[::-1] for at in range(0, 32, 8))
        address = _socket.inet_ntop(_socket.AF_INET6, b"".join(words))
    number = int(port, 16) or "*"
    return f"{'*' if address in ('0.0.0.0', '::') else address[:16]}.{number}"  # noqa: S104 – printed, not bound
