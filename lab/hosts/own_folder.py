"""Folders of the lab's own on a host, which nobody else can make first, enter, or put another one in the place of.

They are below one that only root can write into: ``/var/lib``, on a Mac ``/var/db``; or, where the lab has no root, in
the account's own ``~/.local``: a short path, for sockets, and not that of the register (:mod:`lab.settings.register`).
"""

from __future__ import annotations

import re
import secrets

from lab.base.errors import HostError
from lab.base.scripts import read_script
from lab.hosts import Host

OWN_FOLDER = read_script(__file__, "own_folder.sh")
LAB_HOME = f'{OWN_FOLDER}find_home && echo "$home"'
# Where the lab's home may be made, or is one
LOOK_AT_HOME = (
    OWN_FOLDER
    + """
find_home || exit
if [ -e "$home" ] || [ -L "$home" ]; then go "$home" && is_ours drwx--x--x
else { cd -P "${home%/*}" 2>/dev/null || cd -P "$HOME"; } && (stands_firm us); fi && echo fine || echo open
echo "$home"
"""
)


def lab_home(host: Host) -> str:
    """The folder on a host that all of the lab's are in; without links. It may not be there yet."""
    home = host.shell(LAB_HOME, root=True).stdout.rstrip("\n")
    if not re.fullmatch(r"/.+/file-share-lab", home):
        raise HostError(
            f"the lab's own folder cannot be read from what the host printed: {home!r:.200}", host=host.name
        )
    return home


def new_name() -> str:
    """A name for a folder that nobody can know beforehand."""
    return f"file-share-lab-{secrets.token_hex(8)}"
