"""Start a job of launchd as its user, with its calls watched: ``start_agent.py SOCKET USER WORDS…``, run by root.

The descriptor on which the calls are told goes to the emulated kernel, over the socket that it gave.
"""

import os
import pwd
import socket
import sys

sys.path.insert(0, "/linux/opt")

from emulated_mac.watched_calls import watch_me


def main(kernel: int, user: int, words: list[str]) -> None:
    """Become the job."""
    account = pwd.getpwuid(user)
    with socket.socket(fileno=kernel) as told:
        descriptor = watch_me()
        socket.send_fds(told, [b"watched"], [descriptor])
        os.close(descriptor)
    os.initgroups(account.pw_name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(user)
    os.environ.pop("LC_CTYPE", None)  # Python set it for itself
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
