"""dseditgroup(8): -o checkmember, with the answers of its manual page."""

import getopt
import grp
import os
import pwd
import sys

EX_NOUSER, EX_USAGE = 67, 64


def main(argv: list[str]) -> int:
    """Print whether an account is in a group: ``yes lab is a member of staff`` and exit 0, else exit 67."""
    try:
        options, words = getopt.getopt(argv, "pqvo:m:n:u:P:")
    except getopt.GetoptError:
        options, words = [], []
    chosen = dict(options)
    if chosen.get("-o") != "checkmember" or len(words) != 1:
        print(
            "dseditgroup: this emulated Mac knows `dseditgroup -o checkmember [-m USER] GROUP` alone", file=sys.stderr
        )
        return EX_USAGE
    member = chosen.get("-m") or pwd.getpwuid(os.getuid()).pw_name
    try:
        group = grp.getgrnam(words[0])
    except KeyError:
        print("Group not found.", file=sys.stderr)
        return EX_USAGE
    belongs = member in group.gr_mem or group.gr_gid in [
        entry.pw_gid for entry in pwd.getpwall() if entry.pw_name == member
    ]
    print(f"{'yes' if belongs else 'no'} {member} is {'' if belongs else 'NOT '}a member of {words[0]}")
    return 0 if belongs else EX_NOUSER
