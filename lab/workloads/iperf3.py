"""iperf3: what the link carries without any file system, file protocol or encryption."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from json import JSONDecodeError

from lab.base.errors import LabFailure
from lab.base.untrusted import FASTEST_BYTES_PER_S, count, first_line, from_json, quantity
from lab.hosts import Host
from lab.settings.background import background_process
from lab.settings.operation import Setting

NAME = "iperf3"
PORT = 15201  # not iperf3's own, which a person may be using
GRACE_S = 20.0
# The server reopens its socket after every test, and resets a client that comes too early
RETRY_S, PAUSE_S = 5.0, 0.1
OWN_WORDS = r"^iperf3(?:-darwin)?: (?:error - )?(.+)$"
UNCOUNTED = (-1, 2**64 - 1, 2**64)  # retransmits of a system that does not count them; 64 bits, and those as a float
THERE = "let an iperf3 run there, and let firewalls admit that port"
# What iperf3 says, what that means, and what to do. 3.9 says "Bad file descriptor" of any server that it cannot reach
CAUSES = (
    (r"is busy", "the iperf3 at {at} was busy with somebody else's test", "measure again when that has ended"),
    (r"refused$", "nothing takes connections at {at}", THERE),
    (r"unable to connect|Bad file descriptor$", "there is no connection to {at}", f"look at the address; {THERE}"),
    (r"control (socket|message)|unable to (send|receive|read|write)", "the iperf3 at {at} broke off the test",
     "see whether what listens there is iperf3, and what ended it"),
    (r"(invalid|unrecognized|unknown) option", "the client's iperf3 does not know all that it was asked",
     "install a newer iperf3 there"),
    ("", "the iperf3 at {at} makes no test", ""),
)  # fmt: skip


def server(
    host: Host, call: Sequence[str], address: str, directory: str, listening: Callable[[int], str], port: int = PORT
) -> Setting:
    """Start iperf3 on the server's data address, for one test at a time.

    ``call`` are the words by which that host calls iperf3; ``listening`` makes a shell test whether a port is in use.
    """
    argv = (*call, "--server", "--bind", address, "--port", str(port))
    name = NAME if port == PORT else f"{NAME}-{port}"
    return background_process(host.name, name, argv, directory, listening(port), root=False)


def measure(
    client: Host, call: Sequence[str], address: str, direction: str, seconds: float, port: int = PORT
) -> dict[str, float]:
    """Run one TCP stream for about ``seconds``; ``direction`` is the client's (``read``: server to client).

    Returns the receiver's ``bytes``, ``elapsed_s`` and ``bytes_per_s``, and the sender's ``retransmits`` if its system
    counts them. A test that did not begin is tried again for RETRY_S. Raises LabFailure with iperf3's own words.
    """
    argv = client_words(call, address, direction, seconds, port)
    until = time.monotonic() + RETRY_S
    while not began(text := client.run(*argv, deadline_s=seconds + GRACE_S, check=False).output):
        if time.monotonic() > until:
            break
        time.sleep(PAUSE_S)
    return parse(text, f"{address} port {port}")


def client_words(call: Sequence[str], address: str, direction: str, seconds: float, port: int) -> tuple[str, ...]:
    """The client's command."""
    reverse = ("--reverse",) if direction == "read" else ()
    whole_s = f"{max(1, round(seconds))}"
    return (*call, "--client", address, "--port", str(port), "--time", whole_s, "--json", *reverse)


def began(text: str) -> bool:
    """False if the report says that the test never connected."""
    try:
        report = from_json(text, amid=True)
        return not (report["start"]["connected"] == [] and ("error" in report or report["end"] == {}))
    except (ValueError, KeyError, TypeError):
        return True


def parse(text: str, at: str) -> dict[str, float]:
    """The totals of ``iperf3 --json``, which may stand among other lines. Raises LabFailure; ``at`` is the server.

    Some versions print an error beside the report: 3.9 does.
    """
    try:
        report = from_json(text, amid=True)
        words = str(report.get("error", ""))
        end = {} if words else {name: dict(report["end"][name]) for name in ("sum_received", "sum_sent")}
    except (ValueError, KeyError, TypeError) as error:
        if not (beside := re.search(OWN_WORDS, text, re.MULTILINE)):
            bad_line = text.splitlines()[error.lineno - 1 :] if isinstance(error, JSONDecodeError) else [text]
            printed = first_line("\n".join(bad_line)) or "nothing"
            raise LabFailure(f"iperf3: its report cannot be read; it printed: {printed}", host="client") from error
        words = beside[1]
    if words:
        words = first_line(words.removeprefix("error - "))
        meaning, remedy = next(cause[1:] for cause in CAUSES if re.search(cause[0], words))
        raise LabFailure(f"{meaning.format(at=at)} (iperf3: {words})", remedy)
    totals = {
        "bytes": _number(end, "sum_received", "bytes", count),
        "elapsed_s": _number(end, "sum_received", "seconds", quantity),
        "bytes_per_s": _number(end, "sum_received", "bits_per_second", quantity) / 8,
    }
    if end["sum_sent"].get("retransmits", -1) not in UNCOUNTED:
        totals["retransmits"] = _number(end, "sum_sent", "retransmits", count)
    if not 0 < totals["bytes"] <= FASTEST_BYTES_PER_S * totals["elapsed_s"]:
        arrived = f"{totals['bytes']:g} bytes in {totals['elapsed_s']:g} s"
        raise LabFailure(f"iperf3: its report cannot be true: {arrived} arrived", host="client")
    return totals


def _number(end: Mapping[str, Mapping[str, object]], part: str, name: str, reader: Callable[[object], float]) -> float:
    try:
        return reader(end[part][name])
    except (ValueError, KeyError) as error:
        problem = f"{part}.{name} is {end[part].get(name, 'missing')!r:.60}"
        raise LabFailure(f"iperf3: its report cannot be true: {problem}", host="client") from error
