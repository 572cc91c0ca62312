"""A file on a host that notes what runs change there."""

from support.noted_file import place, sshd

__all__ = ["place", "sshd"]
