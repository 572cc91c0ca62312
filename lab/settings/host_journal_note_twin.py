"""The twin of host_journal_note.pl."""

import os
import sys


def main() -> None:
    """Put it there, and have it on the disk."""
    name = sys.stdin.buffer.readline().removesuffix(b"\n").decode()
    text = sys.stdin.buffer.readline()
    place = f"{name}.part"
    try:
        with open(place, "wb") as file:
            place = name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(f"{name}.part", name)
    except OSError as error:
        sys.stderr.write(f"{place}: {error.strerror}\n")
        sys.exit(error.errno)
    try:
        os.fsync(os.open(".", os.O_RDONLY))
    except OSError:
        pass  # not every file system can


if __name__ == "__main__":
    main()
