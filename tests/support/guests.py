"""What a test between guests leaves on them."""

from __future__ import annotations

from support.local_lab import Bench

MIB = 1 << 20
# A kernel's own threads come and go as it pleases, and libmount keeps three empty files once it was used
NOT_OURS = ("[", "/run/mount/")
WAITING = "ps -eo stat=,args= | grep '^D' || :"  # what no signal ends


def left(bench: Bench) -> dict[str, list[str]]:
    """The state of both hosts, without what is the kernel's own business."""
    state = bench.state()
    return {host: [line for line in lines if not line.startswith(NOT_OURS)] for host, lines in state.items()}
