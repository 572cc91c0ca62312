"""The twin of host_journal_names.pl."""

import glob
import os
import sys


def main(act: str) -> None:
    """Remove or rename them."""
    names = [line.rstrip("\n") for line in sys.stdin]
    if act == "move":
        try:
            os.rename(names[0], names[1])
        except OSError:
            sys.exit(1)
        return
    for name in [name for pattern in names for name in glob.glob(pattern)]:
        try:
            os.unlink(name)
        except OSError:
            pass  # somebody else was first


if __name__ == "__main__":
    main(sys.argv[1])
