"""A delayed link for kernels without netem: pass frames on between a TAP device at each end.

Run as ``python -m lab.local.delay_relay PID DEVICE PID DEVICE DELAY_S RATE RATE``: the delay of one direction, and the
bit/s that each end may send, 0 for no limit. Prints ``ready`` once both devices exist. The devices end with this
process, and this process ends with its parent.
"""

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque
from contextlib import suppress

from lab.local import syscalls
from lab.local.network import ETHERNET_OVERHEAD_BYTES

TUNSETIFF, IFF_TAP_WITHOUT_HEADER = 0x400454CA, 0x0002 | 0x1000
LARGEST_FRAME, FRAMES_AT_ONCE = 65_600, 64
LONGEST_QUEUE = 20_000  # frames; further frames are dropped, as by a switch
QUIET_S = 1.0  # after so long without a frame the processors may sleep
# While a program holds this file open, it limits the microseconds that a processor may take to wake up (pm_qos)
LATENCY = "/dev/cpu_dma_latency"


class Wire:
    """The frames on the way in one direction. Each takes the time of its bits at this rate."""

    def __init__(self, bits_per_s: float, delay_s: float):
        self._seconds_per_byte = 8 / bits_per_s if bits_per_s else 0.0
        self._delay_s = delay_s
        self._free_at = 0.0
        self.frames: deque[tuple[float, bytes]] = deque()

    def put(self, frame: bytes, now: float) -> None:
        """Send a frame after the one before it. It arrives by the link's clock, which a late process does not slow."""
        if len(self.frames) < LONGEST_QUEUE:
            self._free_at = max(now, self._free_at) + (len(frame) + ETHERNET_OVERHEAD_BYTES) * self._seconds_per_byte
            self.frames.append((self._free_at + self._delay_s, frame))


def open_tap(pid: int, device: str) -> int:
    """A file descriptor of a new TAP device of this name in the network of process ``pid``."""
    syscalls.enter_network(pid)
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP_WITHOUT_HEADER))
    return tap


class Processors:
    """Keeps processors awake while frames pass, if it may: a virtual one may take milliseconds to wake up."""

    def __init__(self) -> None:
        self._open: int | None = None

    @property
    def wait_s(self) -> float | None:
        """How long to wait for a frame before the processors may sleep; None if they may already."""
        return None if self._open is None else QUIET_S

    def stay_awake(self) -> None:
        """Let no processor sleep from now on."""
        if self._open is None:
            try:
                self._open = os.open(LATENCY, os.O_WRONLY)
            except OSError:
                self._open = os.open(os.devnull, os.O_WRONLY)
            os.write(self._open, struct.pack("i", 0))

    def may_sleep(self) -> None:
        """Let the processors sleep again."""
        if self._open is not None:
            os.close(self._open)
            self._open = None


def relay(source: int, target: int, wire: Wire) -> None:
    """Pass every frame on over ``wire``, in a process of its own: a frame comes every 12 µs at 1 Gbit/s."""
    frames, put, read, write, now = wire.frames, wire.put, os.read, os.write, time.monotonic
    processors = Processors()
    while True:
        wait = max(0.0, frames[0][0] - now()) if frames else processors.wait_s
        if select.select([source], [], [], wait)[0]:
            processors.stay_awake()
            came = now()
            with suppress(BlockingIOError):
                for _ in range(FRAMES_AT_ONCE):
                    put(read(source, LARGEST_FRAME), came)
        elif not frames:
            processors.may_sleep()
        due = now()
        while frames and frames[0][0] <= due:
            # a frame that the far side cannot take is lost, as on a real link
            with suppress(OSError):
                write(target, frames.popleft()[1])


def main() -> None:
    """Relay both directions until killed."""
    near, device, far, far_device, *numbers = sys.argv[1:]
    delay_s, rate, far_rate = map(float, numbers)
    taps = open_tap(int(near), device), open_tap(int(far), far_device)
    syscalls.be_punctual()
    print("ready", flush=True)
    parent = os.getpid()
    if os.fork() == 0:
        syscalls.die_with_parent(parent)
        relay(taps[1], taps[0], Wire(far_rate, delay_s))
    relay(taps[0], taps[1], Wire(rate, delay_s))


if __name__ == "__main__":
    main()
