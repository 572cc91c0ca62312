"""caffeinate(8), since 10.8: holds assertions as long as it runs, or its command or the watched process does."""

import signal
import subprocess
import time

from .. import bsd_getopt, processes

USAGE = "usage: caffeinate [-disu] [-t timeout] [-w Process ID] [command arguments...]"


def main(argv: list[str]) -> int:
    """Wait for the command, the process or the time; without any, for ever. With a command, ``-t`` is ignored."""
    options, words = bsd_getopt.parse("caffeinate", argv, "dimsut:w:", USAGE, 64)
    values = dict(options)
    if words:
        try:
            return subprocess.run(words, check=False).returncode
        except OSError:
            bsd_getopt.fail(f"caffeinate: {words[0]}: No such file or directory", 71)
    until = time.monotonic() + float(values["t"]) if "t" in values else float("inf")
    watched = int(values["w"]) if "w" in values else None
    if watched is None and until == float("inf"):
        signal.pause()
    while time.monotonic() < until and (watched is None or processes.find(watched)):
        time.sleep(0.2)
    return 0
