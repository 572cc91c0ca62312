"""sudo(8) up to 11, which words its refusals differently; Linux's sudo does the work. In 10.6 (sudo 1.7.0) -k takes no
command; sudo's NEWS has that for 1.7.1.
"""

import os
import sys

from .. import bsd_getopt, profiles

SUDO = "/linux/usr/bin/sudo"
WITHOUT_TTY = "sudo: no tty present and no askpass program specified"
REQUIRED = "a password is required"
USAGE = "usage: sudo -h | -K | -k | -L | -V"  # four more lines follow


def main(argv: list[str]) -> int:
    """Run Linux's sudo, unless a password is needed and cannot be asked for."""
    letters, command = _parse_words(argv)
    if "k" in letters and command and profiles.current().number < (10, 7):
        bsd_getopt.fail(USAGE)
    if "n" in letters and profiles.current().number < (10, 9):
        sys.exit(_run_with_old_words(argv))
    may_ask = not set(letters) & set("nSkK")
    if may_ask and not _needs_no_password() and not _has_terminal():
        bsd_getopt.fail(WITHOUT_TTY)
    os.execv(SUDO, ["sudo", *argv])


def _run_with_old_words(argv: list[str]) -> int:
    errors, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 2), (os.POSIX_SPAWN_CLOSE, errors), (os.POSIX_SPAWN_CLOSE, writer)]
    pid = os.posix_spawn(SUDO, ["sudo", *argv], os.environ, file_actions=actions)
    os.close(writer)
    with os.fdopen(errors, errors="surrogateescape") as lines:
        for line in lines:
            sys.stderr.write(line.replace(REQUIRED, f"sorry, {REQUIRED} to run sudo"))
            sys.stderr.flush()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


def _parse_words(argv: list[str]) -> tuple[str, list[str]]:
    """Split the words into the letters of the options, and the command."""
    letters, left = "", list(argv)
    while left and left[0].startswith("-"):
        word = left.pop(0)
        if word.startswith("--"):
            break
        letters += word[1:]
        if word[-1] in "CUgpu":
            left = left[1:]  # its value
    return letters, left


def _needs_no_password() -> bool:
    """Whether no password is needed, or sudo remembers one."""
    # subprocess takes as long to import as Python takes to start
    silent = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
    return os.waitpid(os.posix_spawn(SUDO, ["sudo", "-n", "true"], os.environ, file_actions=silent), 0)[1] == 0


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
    return True
