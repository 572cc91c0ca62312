"""The twin of connect.pl."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lab.platforms.answers_twin import answers


def main(address: str, port: str) -> None:
    """Say whether something answers."""
    print("yes" if answers(address, port, 3) else "no")


if __name__ == "__main__":
    main(*sys.argv[1:])
