"""The twin of connect.pl."""

import socket
import sys


def main(address: str, port: str) -> None:
    """Say whether something answers."""
    try:
        socket.create_connection((address, int(port)), timeout=3).close()
        print("yes")
    except OSError:
        print("no")


if __name__ == "__main__":
    main(*sys.argv[1:])
