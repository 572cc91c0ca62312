"""What a run cannot see or vary where nobody logs in to the server, or somebody else mounted the share."""

from __future__ import annotations

from collections.abc import Iterator

from lab.hosts.hosts_file import Hosts


def describe_unseen(config: Hosts) -> Iterator[str]:
    """A line for each thing that is lost, and what would bring it back."""
    if not config.server.is_reached:
        yield (
            "nobody logs in to the server: nothing of it can be varied, and neither its processor nor its disk is seen "
            "([server] host names a login; it needs no root)"
        )
    if not config.measures_link:
        yield (
            "no iperf3 at the server: what the link carries is known by the client's interface alone ([server] iperf3 "
            "= ADDRESS:PORT names one that listens)"
        )
    if config.share.mounted:
        yield f"somebody else mounted {config.share.mounted}: no option of the mount can be varied"
    if config.through_mount:
        yield "payloads are made, and compared, through the mount, outside the measured time"
