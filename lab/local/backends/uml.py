"""Guests of User Mode Linux: a kernel that is a process, so it needs no virtualization."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lab.local import guest_kernels
from lab.local.backends.guest import LARGEST_MTU, MEMORY_MIB, SEED, Guest, mac
from lab.local.guest_kernels import DISK


class UserModeLinux(Guest):
    """Debian's package user-mode-linux; its memory is a file in $TMPDIR."""

    name = "uml"
    title = "guests of User Mode Linux"
    kernel = guest_kernels.UML
    seed = "/dev/ubdb"
    probe_s = 60.0

    def setup(self, own_disk: str, number: int) -> str:
        """Room for the guest's memory, and a processor of ours to stay on: moving about makes it ten times slower."""
        processors = sorted(os.sched_getaffinity(0))
        processor = processors[number % len(processors)]
        return f"mount -o remount,size={MEMORY_MIB + 256}m /dev/shm\ntaskset --cpu-list --pid {processor} $$ >/dev/null"

    def command(self, own_disk: str, script: str, cards: Sequence[str] = ()) -> list[str]:
        """The kernel is the program, and its command line the rest."""
        return [
            "linux.uml",
            f"mem={MEMORY_MIB}M",
            "seccomp=auto",  # faster than ptrace
            f"ubd0={own_disk}.cow,{DISK}",
            *("root=/dev/ubda", "rootfstype=ext4", "rw"),
            *("con=null", "con0=null,fd:1"),
            *cards,
            # a word with blanks has quotes of its own, for the kernel takes it apart again
            *("init=/bin/sh", "--", "-c", f'"{script}"'),
        ]

    def cards(self, number: int) -> list[str]:
        """Without gro=1 a card drops every frame longer than its MTU, and a tap hands over such frames."""
        return [
            f"ubd1r={SEED}",
            f"vec0:transport=tap,ifname=management,depth=64,gro=1,mac={mac(0, number)}",
            f"vec1:transport=tap,ifname=data,depth=128,gro=1,mtu={LARGEST_MTU},mac={mac(1, number)}",
        ]
