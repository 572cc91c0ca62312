"""The twin of own_folder_make.pl."""

import os
import pwd
import sys


def main(mode: str, account: str) -> None:
    """Make it."""
    name = sys.stdin.buffer.read()
    try:
        os.mkdir(name, 0o700)
        if account:
            entry = pwd.getpwnam(account)
            os.chown(name, entry.pw_uid, entry.pw_gid)
        os.chmod(name, int(mode, 8))
    except KeyError:
        sys.stderr.write(f"{account}: no such account\n")
        sys.exit(255)
    except OSError as error:
        sys.stderr.write(f"{os.fsdecode(name)}: {error.strerror}\n")
        sys.exit(error.errno)


if __name__ == "__main__":
    main(*sys.argv[1:])
