"""What a netatalk of the lab's own logs of its logins, for clients that cannot tell what they agreed on."""

from __future__ import annotations

import re

from lab.protocols.share import Share, Side


def read_last_login(server: Side, share: Share) -> dict[str, str]:
    """The version of the newest login, from the line that our afpd logs; empty for every other server."""
    if not share.served_by_lab or server.platform != "linux":
        return {}
    logins = server.host.shell('grep -h "Login by" "$1" | tail -n 1', f"{server.directory}/afp/afpd.log", root=True)
    return parse_login(logins.stdout)


def parse_login(line: str) -> dict[str, str]:
    """The AFP version of a line such as ``… Login by lab (AFP3.3)``; empty where there is none."""
    match = re.search(r"\bAFP(?:X| )?(\d[\d.]*)", line)
    return {"dialect": f"AFP {match[1]}"} if match else {}
