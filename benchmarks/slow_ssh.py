"""A ProxyCommand with a delay: ``slow_ssh.py SECONDS COMMAND ...`` passes both directions on, SECONDS later each."""

import os
import queue
import subprocess
import sys
import threading
import time


def relay(source: int, target: int, delay_s: float) -> None:
    """Hand on what comes from one descriptor to the other, each piece ``delay_s`` after it came, to the end."""
    pieces: queue.Queue[tuple[float, bytes]] = queue.Queue()

    def take() -> None:
        piece = b"."
        while piece:
            piece = os.read(source, 65536)
            pieces.put((time.monotonic() + delay_s, piece))

    threading.Thread(target=take, daemon=True).start()
    while True:
        due, piece = pieces.get()
        time.sleep(max(0.0, due - time.monotonic()))
        if not piece:
            return
        while piece:
            piece = piece[os.write(target, piece) :]


def main() -> None:
    """Relay until the far side closes."""
    delay_s = float(sys.argv[1])
    with subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        up = (0, process.stdin.fileno(), delay_s)
        threading.Thread(target=relay, args=up, daemon=True).start()
        relay(process.stdout.fileno(), 1, delay_s)
        process.kill()


if __name__ == "__main__":
    main()
