"""iperf3: what the link carries without any file system, file protocol or encryption."""

import time
from collections.abc import Callable, Sequence

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

    Returns the receiver's ``bytes``, ``elapsed_s`` and ``bytes_per_s``, and the sender's ``retransmits``. A test that
    did not begin is tried again for RETRY_S. Raises LabFailure with iperf3's own words.
    """
    argv = client_words(call, address, direction, seconds, port)
    until = time.monotonic() + RETRY_S
    while not began(text := client.run(*argv, deadline_s=seconds + GRACE_S, check=False).stdout):
        if time.monotonic() > until:
            break
        time.sleep(PAUSE_S)
    return parse(text)


def client_words(call: Sequence[str], address: str, direction: str, seconds: float, port: int) -> tuple[str, ...]:
    """The client's command."""
    reverse = ("--reverse",) if direction == "read" else ()
    whole_s = f"{max(1, round(seconds))}"
    return (*call, "--client", address, "--port", str(port), "--time", whole_s, "--json", *reverse)


def began(text: str) -> bool:
    """False if the report says that the test never connected."""
    try:
        report = from_json(text)
        return not ("error" in report and report["start"]["connected"] == [])
    except (ValueError, KeyError, TypeError):
        return True


def parse(text: str) -> dict[str, float]:
    """The totals of ``iperf3 --json``. Raises LabFailure."""
    try:
        report = from_json(text)
        if "error" in report:
            raise LabFailure(f"iperf3: {first_line(str(report['error']))}")
        received, sent = report["end"]["sum_received"], report["end"]["sum_sent"]
        totals = {
            "bytes": count(received["bytes"]),
            "elapsed_s": quantity(received["seconds"]),
            "bytes_per_s": quantity(received["bits_per_second"]) / 8,
            "retransmits": count(sent.get("retransmits", 0)),
        }
        if not 0 < totals["bytes"] <= FASTEST_BYTES_PER_S * totals["elapsed_s"]:
            raise ValueError("no link carries that")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabFailure(f"iperf3: its report cannot be true: {text[:200]!r}", host="client") from error
    return totals
