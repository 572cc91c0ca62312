"""dns-sd(1): browse and look up services; it runs until it is interrupted. Source: mDNSResponder, Clients/dns-sd.c
(258.21 of 10.6, 522.92.1 of 10.9, 2559.80.8 of 15). The rows of -B and -L have no DATE and STARTING in 10.6. A type
without a dot is one of TCP; no type means _http._tcp. Flag 2 is Add; flag 1 says that more rows follow. A wrong command
line prints the usage and exits with 0.
"""

from __future__ import annotations

import signal
import sys
import time

from .. import bsd_getopt, profiles
from ..bonjour import Service, ask
from ..interfaces import Interface, dotted_address, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

OPERATIONS = "ABCDEFHILMNPQRSTUVZhlqXGg"
LATER = ("-i", "-t", "-m", "-lo", "-p2p", "-fmc", "-timeout")  # options that come before the operation
USAGE = """\
dns-sd -E                          (Enumerate recommended registration domains)
dns-sd -F                          (Enumerate recommended browsing     domains)
dns-sd -R <Name> <Type> <Domain> <Port> [<TXT>...]         (Register a service)
dns-sd -P <Name> <Type> <Domain> <Port> <Host> <IP> [<TXT>...] (Register Proxy)
dns-sd -B        <Type> <Domain>                 (Browse for service instances)
dns-sd -Z        <Type> <Domain>           (Output results in Zone File format)
dns-sd -L <Name> <Type> <Domain>        (Resolve (‘lookup’) a service instance)
dns-sd -Q <name> <rrtype> <rrclass>         (Generic query for any record type)
dns-sd -q <name> <rrtype> <rrclass>     (Generic query, using SuppressUnusable)
dns-sd -G v4/v6/v4v6 <hostname>          (Get address information for hostname)
dns-sd -X udp/tcp/udptcp <IntPort> <ExtPort> <TTL>           (NAT Port Mapping)
dns-sd -H                               (Print usage for complete command list)
dns-sd -V            (Get version of currently running daemon / system service)"""
ROWS = ("Timestamp     A/R    Flags  if {:20} {:20} {}", "{} {:8X} {:3} {:20} {:20} {}")
ROWS_BEFORE_10_9 = ("Timestamp     A/R Flags if {:25} {:25} {}", "{}{:6X}{:3} {:25} {:25} {}")
ADD, MORE = 2, 1
EVERY_S = 1.0


def main(argv: list[str]) -> NoReturn:
    """Browse or look up."""
    if argv and argv[0] in LATER:
        bsd_getopt.fail_as_not_emulated("dns-sd", argv[0])
    if not argv or argv[0][:1] != "-" or argv[0][1:2] not in OPERATIONS or len(argv[0]) < 2:
        bsd_getopt.fail_with_usage(USAGE, 0)
    operation, words = argv[0][1], [word for word in (argv[0][2:], *argv[1:]) if word]
    if operation not in "BL":
        bsd_getopt.fail_as_not_emulated("dns-sd", f"-{operation}")
    if operation == "L" and len(words) < 2:
        bsd_getopt.fail_with_usage(USAGE, 0)
    if words[operation == "L" :][1:] not in ([], ["."], ["local"], ["local."]):
        bsd_getopt.fail_as_not_emulated("dns-sd", "a domain other than local")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # SIGINT ends it, as it ends every program without a handler
    if operation == "B":
        _browse(words)
    _look_up(words)


def _browse(words: list[str]) -> NoReturn:
    kind, show = _kind(words[:1]), _Shown()
    print(f"Browsing for {kind}{'.' + words[1] if words[1:] and words[1] != '.' else ''}")
    show.starting()
    heading, row = ROWS if profiles.current().number >= (10, 9) else ROWS_BEFORE_10_9
    known: set[str] = set()
    while True:
        link = _link()
        now = {service.name for service in _services(link) if service.kind == kind}
        changes = [("Rmv", 0, name) for name in sorted(known - now)] + [("Add", ADD, n) for n in sorted(now - known)]
        if changes and not show.rows:
            print(heading.format("Domain", "Service Type", "Instance Name"))
        for left, (change, flags, name) in zip(reversed(range(len(changes))), changes, strict=True):
            flags |= MORE if left else 0
            show.row(row.format(change, flags, link.index, "local.", f"{kind}.", name))
        known = now
        sys.stdout.flush()
        time.sleep(EVERY_S)


def _look_up(words: list[str]) -> NoReturn:
    kind, show = _kind(words[1:2]), _Shown()
    print(f"Lookup {words[0]}.{kind}.{words[2] if words[2:] and words[2] != '.' else 'local'}")
    show.starting()
    while True:
        link = _link()
        for service in [] if show.rows else _services(link):
            if (service.name, service.kind) == (words[0], kind):
                where = f"{service.host}.:{service.port} (interface {link.index})"
                show.row(f"{service.name}.{kind}.local. can be reached at {where}")
        sys.stdout.flush()
        time.sleep(EVERY_S)


def _kind(words: list[str]) -> str:
    kind = words[0] if words and words[0] != "." else "_http._tcp"
    return kind if "." in kind else f"{kind}._tcp"


def _link() -> Interface:
    link = find("en0")
    assert link is not None
    return link


def _services(link: Interface) -> list[Service]:
    if link.address is None:
        return []
    try:
        return ask(dotted_address(link.address.broadcast))
    except OSError:  # the link is down
        return []


class _Shown:
    """The rows, each with its time; the first row of a day has the date above it."""

    def __init__(self) -> None:
        self.rows, self._day = 0, ""
        self._is_new = profiles.current().number >= (10, 9)

    def starting(self) -> None:
        """Print the line that says that it starts."""
        if self._is_new:
            self._time()
            print("...STARTING...")

    def row(self, text: str) -> None:
        """Print one."""
        self._time()
        print(text)
        self.rows += 1

    def _time(self) -> None:
        now = time.time()
        local = time.localtime(now)
        day = time.strftime("%a %d %b %Y", local)
        if self._is_new and day != self._day:
            print(f"DATE: ---{day}---")
        self._day = day
        print(f"{local.tm_hour:2}:{local.tm_min:02}:{local.tm_sec:02}.{int(now * 1000) % 1000:03}  ", end="")
