"""The twin of host_journal_alone.pl."""

import fcntl
import os
import subprocess
import sys


def main(*words: str) -> None:
    """Wait for the folder, and run the command."""
    try:
        fcntl.flock(os.open(".", os.O_RDONLY), fcntl.LOCK_EX)
    except OSError as error:
        sys.stderr.write(f"{error.strerror}\n")
        sys.exit(error.errno)
    sys.exit(max(subprocess.run(words, check=False).returncode, 0))


if __name__ == "__main__":
    main(*sys.argv[1:])
