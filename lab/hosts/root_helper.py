"""Installing and removing the helper of a narrow sudo, and its line in sudoers.

Its abilities are in ``root_helper.pl`` and in :mod:`lab.root_helper.program`.
"""

import re

from lab.base.errors import BadInput
from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.own_folder import OWN_FOLDER

SUDOERS = "/etc/sudoers.d/file-share-lab-helper"
VERSION_WORD = "file-share-lab-version"
INSTALL = OWN_FOLDER + read_script(__file__, "root_helper_install.sh")
REMOVE = read_script(__file__, "root_helper_remove.sh")
# Needs no escapes in a sudoers file: sudoers(5)
ACCOUNT = r"[a-z_][a-z0-9_-]{0,31}"


def sudoers_line(account: str, helper: str) -> str:
    """The line of sudoers that lets an account run only the helper as root. Raises BadInput for an odd name."""
    if not re.fullmatch(ACCOUNT, account):
        raise BadInput(
            f"the account {account!r:.60} is none that a line of sudoers can plainly name",
            "make an account for measurements, of small letters, digits, - and _",
        )
    return f"{account} ALL=(root) NOPASSWD: NOSETENV: {helper}"


def install(account: str, helper: str, program: str) -> Command:
    """The command that installs the helper as this file, for an account on the host."""
    return script(INSTALL, helper, sudoers_line(account, helper), SUDOERS, root=True, given=program)


def remove(helper: str) -> Command:
    """The command that removes the helper; safe to repeat."""
    return script(REMOVE, helper, SUDOERS, root=True)
