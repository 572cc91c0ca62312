"""ssh(1) before 10.11: the real one, with the algorithms of its time."""

from .. import openssh, profiles


def main(argv: list[str]) -> int:
    """Hand over."""
    openssh.become("/linux/usr/bin/ssh", profiles.current().number, argv)
