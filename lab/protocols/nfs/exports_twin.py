"""The twin of exports.pl."""

import os
import sys


def add(file: str, line: bytes) -> None:
    """Put the line at the end."""
    with open(file, "a+b") as exports:
        exports.seek(0)
        text = exports.read()
        gap = b"" if not text or text.endswith(b"\n") else b"\n"
        exports.write(gap + line + b"\n")


def remove(file: str, line: bytes, before: str) -> None:
    """Take the line out again; a file that is gone has none."""
    if not os.path.exists(file):
        return
    with open(file, "r+b") as exports:
        text = exports.read()
        start = (b"\n" + text).find(b"\n" + line + b"\n")
        if start < 0:
            return
        rest = text[start + 1 + len(line) :]
        if before == "unended" and start > 0 and not rest:
            start -= 1  # the newline that was put before ours
        exports.seek(start)
        exports.write(rest)
        exports.truncate()
    if before == "missing" and not os.path.getsize(file):
        os.unlink(file)


def main(act: str, file: str, line: str, *before: str) -> None:
    """Add or remove the line."""
    try:
        if act == "add":
            add(file, os.fsencode(line))
        else:
            remove(file, os.fsencode(line), *before)
    except OSError as error:
        sys.stderr.write(f"{file}: {error.strerror}\n")
        sys.exit(error.errno)


if __name__ == "__main__":
    main(*sys.argv[1:])
