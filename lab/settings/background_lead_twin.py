"""The twin of background_lead.pl."""

import os
import signal
import subprocess
import sys


def started() -> str:
    """When this process started, as started.sh has it."""
    try:
        with open("/proc/self/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(") ")[2].split()[19]
    except OSError:
        pass  # not Linux
    words = ["ps", "-o", "lstart=", "-p", str(os.getpid())]
    printed = subprocess.run(words, stdout=subprocess.PIPE, check=False).stdout
    return " ".join(printed.decode().split())


def main(file: str, *words: str) -> None:
    """Write down who this is, and turn into the command."""
    try:
        os.setsid()
    except PermissionError:
        pass  # it leads one already
    name = f"{file}.part"
    try:
        with open(name, "w", encoding="utf-8") as own:
            own.write(f"{os.getpid()}\n{started()}\n")
        name = file
        os.rename(f"{file}.part", file)
        name = words[0]
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores
        os.execvp(words[0], words)
    except OSError as error:
        sys.stderr.write(f"{name}: {error.strerror}\n")
        sys.exit(error.errno)


if __name__ == "__main__":
    main(*sys.argv[1:])
