"""A delayed link for kernels without netem: passes frames on between a TAP device at each end.

Run as ``python -m lab.local.delay_relay PID DEVICE PID DEVICE DELAY_S``. Prints ``ready`` once both devices exist; they
vanish with this process, and this process with the one that started it.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque
from contextlib import suppress

from lab.local import syscalls

TUNSETIFF = 0x400454CA
IFF_TAP_WITHOUT_HEADER = 0x0002 | 0x1000
LARGEST_FRAME = 65_600
FRAMES_AT_ONCE = 64
LONGEST_QUEUE = 20_000  # frames; later ones are dropped, as by a switch


def open_tap(pid: int, device: str) -> int:
    """A file descriptor of a new TAP device of this name in the network of process ``pid``."""
    syscalls.enter_network(pid)
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP_WITHOUT_HEADER))
    return tap


def relay(source: int, target: int, delay_s: float) -> None:
    """Pass every frame on from ``source`` to ``target``, ``delay_s`` after it came, for ever.

    Each direction has a process: at 1 Gbit/s frames come every 12 µs, too often for threads that share an interpreter.
    """
    queue: deque[tuple[float, bytes]] = deque()
    read, write, now, append, forget = os.read, os.write, time.monotonic, queue.append, queue.popleft
    while True:
        wait = max(0.0, queue[0][0] - now()) if queue else None
        if select.select([source], [], [], wait)[0]:
            with suppress(BlockingIOError):
                for _ in range(FRAMES_AT_ONCE):
                    frame = read(source, LARGEST_FRAME)
                    if len(queue) < LONGEST_QUEUE:
                        append((now() + delay_s, frame))
        while queue and queue[0][0] <= now():
            # a frame that the far side cannot take is lost, as on a real link
            with suppress(OSError):
                write(target, queue[0][1])
            forget()


def main() -> None:
    """Relay both directions until killed."""
    one, device, other, other_device, delay_s = sys.argv[1:]
    taps = open_tap(int(one), device), open_tap(int(other), other_device)
    print("ready", flush=True)
    parent = os.getpid()
    if os.fork() == 0:
        syscalls.die_with_parent(parent)
        relay(taps[1], taps[0], float(delay_s))
    relay(taps[0], taps[1], float(delay_s))


if __name__ == "__main__":
    main()
