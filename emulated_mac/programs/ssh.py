"""ssh(1) before 10.11: Debian's program with the algorithms of its time."""

from .. import openssh, profiles


def main(argv: list[str]) -> int:
    """Become Debian's program."""
    openssh.become("/linux/usr/bin/ssh", profiles.current().number, argv)
