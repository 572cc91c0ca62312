"""The twin of copy_uncached.pl."""

import fcntl
import os
import sys

F_NOCACHE = 48
CHUNK = 1 << 20


def main(source: str, target: str) -> None:
    """Copy it."""
    os.umask(0o022)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(source, "rb", 0) as original, os.fdopen(descriptor, "wb", 0) as copy:
            if sys.platform == "darwin":
                fcntl.fcntl(copy, F_NOCACHE, 1)
            while data := original.read(CHUNK):
                while data:
                    data = data[copy.write(data) :]
            os.fsync(copy.fileno())
    except OSError as error:
        sys.stderr.write(f"{error.filename or target}: {error.strerror}\n")
        sys.exit(error.errno)


if __name__ == "__main__":
    main(*sys.argv[1:])
