"""Guests that have ZFS as a place of the matrix: kernels of their own, so that they are looked at from inside."""

from support.guests import left_but_for_zfs
from support.local_lab import Bench

from .observe import Observer, State, is_controller_connected

# The disks, loops and modules that a pool of the lab's takes
OF_POOLS = "ls -d /dev/file-share-lab-* /sys/block/loop*/loop/backing_file /sys/module/zfs 2>/dev/null || :"


class GuestObserver(Observer):
    """Looks at the hosts of one local lab as a person would who logs in: a process there has no place outside."""

    def __init__(self, bench: Bench):
        super().__init__(bench.name)
        self.bench = bench

    def settle(self) -> None:
        """Wait until no run is connected any more."""
        self.bench.wait_until_free()

    def state(self) -> State:
        """All that is compared, as text by name."""
        found = left_but_for_zfs(self.bench)
        state = {f"{host}: {line}": str(lines.count(line)) for host, lines in found.items() for line in lines}
        state |= {f"server: of pools {line}": "there" for line in self.bench.inside("server", OF_POOLS).splitlines()}
        if is_controller_connected(self.name):
            state["controller: a connection"] = "open"
        return state
