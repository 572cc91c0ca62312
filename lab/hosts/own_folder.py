"""The lab's own folders on a host, which nobody else can create first, enter or swap.

They are below a folder into which only root can write: ``/var/lib``, on a Mac ``/var/db``. Without root they are in the
account's ``~/.local``, a short path for sockets, apart from the register (:mod:`lab.settings.register`).
"""

import re
import secrets

from lab.base.errors import HostError
from lab.base.scripts import read_script
from lab.hosts import Host

OWN_FOLDER = read_script(__file__, "own_folder.sh")
# Prints the lab's home, which is there, or can be made
LAB_HOME = (
    OWN_FOLDER
    + """
find_home || exit
place=$home; until [ -e "$place/" ]; do place=${place%/*}; done
if [ -w "$place/" ]; then echo "$home"; else echo "nothing can be written into $place/" >&2; exit 1; fi
"""
)
# Prints whether the lab's home is, or can be, safe
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
    """The folder on a host with all folders of the lab, without links. It may not exist yet."""
    home = host.shell(LAB_HOME, root=True).stdout.rstrip("\n")
    if not re.fullmatch(r"/.+/file-share-lab", home):
        message = f"the lab's own folder cannot be read from what the host printed: {home!r:.200}"
        raise HostError(message, host=host.name)
    return home


def new_name() -> str:
    """An unguessable name for a folder."""
    return f"file-share-lab-{secrets.token_hex(8)}"
