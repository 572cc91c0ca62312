"""Run a program that gets SIGTERM as soon as the process that started it is gone.

``python -I -S leash.py PARENT WORD...`` runs the words; PARENT is the pid of the process that starts the leash. On
Linux the kernel sends the signal, and the leash becomes the program. On other systems the leash waits for the end of
its standard input, a pipe that only the parent holds open. The module imports little because every sweep starts it.
"""

import os
import signal
import sys
from types import FrameType

PR_SET_PDEATHSIG = 1


def become(parent: int, words: list[str]) -> None:
    """Let the kernel send SIGTERM once the parent's thread is gone, and become the program."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:  # it ended before the call
        raise SystemExit(128 + signal.SIGTERM)
    os.execv(words[0], words)  # noqa: S606 – what the lab starts, through no shell


def hold(words: list[str]) -> int:
    """Run the program and return its exit code, as a shell has it. SIGTERM or the end of standard input ends it."""
    import subprocess
    import threading

    received: list[int] = []
    started: list[subprocess.Popen[bytes]] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        for process in started:
            process.terminate()

    def wait_for_end_of_input() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:  # noqa: S603 – as above
        started.append(process)
        if received:  # before the process was known
            process.terminate()
        threading.Thread(target=wait_for_end_of_input, daemon=True).start()
        code = process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    if sys.platform == "linux":
        become(int(sys.argv[1]), sys.argv[2:])
    raise SystemExit(hold(sys.argv[2:]))
