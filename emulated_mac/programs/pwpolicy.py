"""pwpolicy(8): only -gethashtypes, because the lab changes no account of a Mac."""

import pwd
import sys

from ..kernel_client import call


def main(argv: list[str]) -> int:
    """Print the hash types of a password, one a line."""
    if len(argv) != 3 or argv[0] != "-u" or argv[2] != "-gethashtypes":
        print("pwpolicy: this emulated Mac knows `pwpolicy -u USER -gethashtypes` alone", file=sys.stderr)
        return 64
    try:
        pwd.getpwnam(argv[1])
    except KeyError:
        print(f"Error: unknown AuthenticationAuthority for user <{argv[1]}>.", file=sys.stderr)
        return 1
    for word in call("hash_types"):
        print(word)
    return 0
