"""Guests of User Mode Linux, a kernel that is a process and needs no virtualization."""

import os
from collections.abc import Sequence

from lab.local import guest_kernels
from lab.local.backends.guest import LARGEST_MTU, MEMORY_MIB, SEED, Guest, mac_address
from lab.local.guest_kernels import DISK


class UserModeLinux(Guest):
    """Debian's package user-mode-linux; its memory is a file in $TMPDIR."""

    name = "uml"
    title = "guests of User Mode Linux"
    kernel = guest_kernels.UML
    seed = "/dev/ubdb"
    probe_s = 60.0

    def setup(self, own_disk: str, number: int) -> str:
        """Make room for the guest's memory and pin it to a processor; unpinned it is ten times slower."""
        processors = sorted(os.sched_getaffinity(0))
        processor = processors[number % len(processors)]
        return f"mount -o remount,size={MEMORY_MIB + 256}m /dev/shm\ntaskset --cpu-list --pid {processor} $$ >/dev/null"

    def command(self, own_disk: str, script: str, cards: Sequence[str] = ()) -> list[str]:
        """The kernel, which is a program, with its command line."""
        return [
            "linux.uml",
            f"mem={MEMORY_MIB}M",
            "seccomp=auto",  # faster than ptrace
            f"ubd0={own_disk}.cow,{DISK}",
            *("root=/dev/ubda", "rootfstype=ext4", "rw"),
            *("con=null", "con0=null,fd:1"),
            *cards,
            # quoted, because the kernel splits its command line at blanks
            *("init=/bin/sh", "--", "-c", f'"{script}"'),
        ]

    def cards(self, number: int) -> list[str]:
        """The seed and both cards. With gro=1 a card accepts frames longer than its MTU, which a tap delivers."""
        return [
            f"ubd1r={SEED}",
            f"vec0:transport=tap,ifname=management,depth=64,gro=1,mac={mac_address(0, number)}",
            f"vec1:transport=tap,ifname=data,depth=128,gro=1,mtu={LARGEST_MTU},mac={mac_address(1, number)}",
        ]
