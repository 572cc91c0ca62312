"""sshd(8) before 10.11, where somebody starts one: the real one, with the algorithms of its time."""

from .. import openssh, profiles


def main(argv: list[str]) -> int:
    """Hand over."""
    openssh.become("/linux/usr/sbin/sshd", profiles.current().number, argv)
