"""The twin of session.pl."""

import os
import signal
import sys


def main(*words: str) -> None:
    """Turn into the command."""
    try:
        os.setsid()
    except PermissionError:
        pass  # it leads one already
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores
    try:
        os.execvp(words[0], words)
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        sys.exit(error.errno)


if __name__ == "__main__":
    main(*sys.argv[1:])
