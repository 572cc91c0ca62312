"""xattr(1), like file_cmds (xattr/xattr.c); up to macOS 12 it was a Python script with the same options."""

from __future__ import annotations

import errno
import os
import sys

from .. import attributes, mac_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FORMS = """\
usage: xattr [-l] [-r] [-s] [-v] [-x] file [file ...]
       xattr -p [-l] [-r] [-s] [-v] [-x] attr_name file [file ...]
       xattr -w [-r] [-s] [-x] attr_name attr_value file [file ...]
       xattr -d [-r] [-s] attr_name file [file ...]
       xattr -c [-r] [-s] file [file ...]"""
WORDS = {"p": 2, "w": 3, "d": 2, "c": 1}  # the least number of words for each form
LINE = 16  # bytes of a value


def main(argv: list[str]) -> int:
    """List, print, write or remove extended attributes; 1 if it failed for one file."""
    letters, words = _parse(argv)
    mode = next((letter for letter in letters if letter in WORDS), "")
    if "l" in letters and mode in ("w", "d"):
        _fail_with_usage("-l is not allowed with -w or -d")
    needed = WORDS.get(mode, 1)
    if len(words) < needed:
        form = mode or "\xff"  # the original prints -1 as a character
        _fail_with_usage(f"Not enough arguments for option -{form}. Expected at least {needed} but got {len(words)}")
    name = words.pop(0) if mode in ("p", "w", "d") else ""
    value = words.pop(0) if mode == "w" else ""
    program = _Program(letters, mode, name, value, len(words) > 1)
    for word in words:
        program.visit(word)
    return program.code


def _parse(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split into letters and words; BSD's getopt_long takes no option after the first word."""
    letters: list[str] = []
    words = list(argv)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        if word == "--help":
            word = "-h"
        for letter in word[1:]:
            if letter == "h":
                print(FORMS)
                sys.exit(0)
            if letter not in "clrspwdvx":
                print(f"xattr: illegal option -- {letter}", file=sys.stderr)
                _fail_with_usage("")
            other = next((known for known in letters if known in WORDS and known != letter), "")
            if letter in WORDS and other:
                _fail_with_usage(f"Cannot specify -{letter} with -{other}")
            letters.append(letter)
    return letters, words


def _fail_with_usage(message: str) -> NoReturn:
    """Print message and usage, both to standard output, and exit."""
    print(f"{message}\n\n{FORMS}")
    sys.exit(1)


class _Program:
    """One call; ``code`` is its exit code."""

    def __init__(self, letters: list[str], mode: str, name: str, value: str, several: bool):
        self.mode, self.name, self.value = mode, name, value
        self.is_hex, self.is_long, self.recursive = "x" in letters, "l" in letters, "r" in letters
        self.follow = "s" not in letters
        self.shows_names = several or "v" in letters or self.recursive
        self.code = 0

    def visit(self, path: str) -> None:
        """Handle an object, and with -r everything below it."""
        try:
            os.stat(path, follow_symlinks=self.follow)  # noqa: PTH116
            if self.recursive and os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
                for name in os.listdir(path):  # noqa: PTH208
                    self.visit(f"{path}/{name}")
            self._act(path)
        except OSError as error:
            self._print_error(path, error)

    def _act(self, path: str) -> None:
        if self.mode == "w":
            value = _from_hex(self.value) if self.is_hex else os.fsencode(self.value)
            attributes.set_xattr(path, self.name, value, self.follow)
            return
        there = attributes.read(path, self.follow).xattrs
        if self.mode in ("p", "d") and self.name not in there:
            if not (self.mode == "d" and self.recursive):
                raise OSError(errno.ENODATA, "Attribute not found", path)
            return
        if self.mode in ("d", "c"):
            for name in [self.name] if self.mode == "d" else list(there):
                attributes.remove_xattr(path, name, self.follow)
            return
        for name in [self.name] if self.mode == "p" else there:
            self._print(path, name, there[name])

    def _print(self, path: str, name: str, value: bytes) -> None:
        prefix = f"{path}: " if self.shows_names else ""
        text = value.split(b"\0")[0].decode(errors="surrogateescape")  # printf(3) ends at a zero
        if self.is_long and self.is_hex:
            lines = [f"{prefix}{name}:", *_hex_lines(value, is_long=True), f"{len(value):08X}"]
        elif self.is_long:
            lines = [f"{prefix}{name}: {text}"]
        elif self.mode == "p":
            lines = [*filter(None, [prefix]), *_hex_lines(value, is_long=False)] if self.is_hex else [prefix + text]
        else:
            lines = [prefix + name]
        for line in lines:
            sys.stdout.buffer.write(os.fsencode(line) + b"\n")

    def _print_error(self, path: str, error: OSError) -> None:
        self.code = 1
        if not os.path.lexists(path):
            message = f"No such file: {path}"
        elif error.errno == errno.ENODATA:
            message = f"{path}: No such xattr: {self.name}"
        else:
            code = error.errno or 0
            message = f"[Errno {mac_errors.number(code)}] {mac_errors.text(code)}: '{path}'"
        print(f"xattr: {message}", file=sys.stderr)


def _from_hex(text: str) -> bytes:
    """sscanf(3) of two digits at a time; blanks between them do not count."""
    digits = "".join(text.split())
    return bytes(int(digits[at : at + 2], 16) for at in range(0, len(digits), 2))


def _hex_lines(value: bytes, is_long: bool) -> list[str]:
    lines = []
    for at in range(0, len(value), LINE):
        part = value[at : at + LINE]
        digits = "".join(f"{byte:02X} " for byte in part)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08X}  {digits:<{LINE * 3}} |{shown}|" if is_long else digits)
    return lines
