"""The helper of a narrow sudo, which a sudoers line names in place of a shell: its program, and how to install it."""

import functools
import hashlib
import re

from lab.base.errors import BadInput, HostError, Unsupported
from lab.base.scripts import beside, read_script
from lab.base.untrusted import first_line
from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.hosts.own_folder import OWN_FOLDER
from lab.platforms.macos.disk_images import IMAGES_OF_HDIUTIL
from lab.root_helper.table import VERSION_WORD, linux_entries, mac_entries

ENTRIES = {"Linux": linux_entries, "Darwin": mac_entries}
SYSTEM_FILES = {"Linux": "root_helper_linux.pl", "Darwin": "root_helper_macos.pl"}
SUDOERS = "/etc/sudoers.d/file-share-lab-helper"
INSTALL = OWN_FOLDER + read_script(__file__, "install.sh")
REMOVE = read_script(__file__, "remove.sh")
# Needs no escapes in a sudoers file: sudoers(5)
ACCOUNT = r"[a-z_][a-z0-9_-]{0,31}"


@functools.cache
def program(system: str) -> str:
    """The whole helper, as a host of this system (``uname -s``) gets it; with its digest as its version."""
    files = ("root_helper_table.pl", SYSTEM_FILES[system], "root_helper.pl")
    code = "\n".join(beside(__file__, name).read_text(encoding="utf-8") for name in files)
    if system == "Darwin":
        code = f"{IMAGES_OF_HDIUTIL}\n{code}"
    table = "".join(entry.as_perl() for entry in ENTRIES[system]())
    text = f"{code}\n@TABLE = (\n{table});\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"#!/usr/bin/perl -Tw\n{text}$VERSION = '{digest}';\nexit main();\n"


def version(system: str) -> str:
    """The version that the helper reports."""
    return program(system).rpartition("$VERSION = '")[2].partition("'")[0]


def check_installed(host: Host) -> None:
    """Raise if a host with ``sudo = helper`` has no helper, another version of it, or a system without one."""
    if not host.is_narrow:
        return
    system = host.run("uname", "-s").stdout.strip()
    if system not in ENTRIES:
        message = f"sudo = helper: there is none for {system:.40}"
        raise Unsupported(message, "give sudo = password for the time of the measurements", host=host.name)
    present = host.run(VERSION_WORD, root=True).stdout.strip()
    expected = version(system)
    if present != expected:
        message = f"its helper belongs to another version of the lab ({present:.20}; this one's is {expected})"
        raise HostError(message, f"`lab host install {host.name}`", host=host.name)


def check_answer(host: Host, helper: str, line: str) -> None:
    """Raise where sudo does not let the account run the helper that was just put there, by the line that names it."""
    host.run("sudo", "-k", check=False)  # a password that it remembers would do too
    answer = host.run("sudo", "-n", "--", helper, VERSION_WORD, check=False)
    if answer.stdout.strip() != version(host.run("uname", "-s").stdout.strip()):
        reason = first_line(answer.stderr.strip()) or f"exit code {answer.exit_code}"
        message = f"{helper} is there, but sudo does not let the account run it: {reason}"
        remedy = (
            f"sudo there reads no /etc/sudoers.d, as on Macs before 10.11: add the line `{line}` at the end, by `sudo "
            "visudo`, and take it out again when the helper is removed"
        )
        raise HostError(message, remedy, host=host.name)


def sudoers_line(account: str, helper: str) -> str:
    """The line of sudoers that lets an account run only the helper as root. Raises BadInput for an odd name."""
    if not re.fullmatch(ACCOUNT, account):
        message = f"the account {account!r:.60} is none that a line of sudoers can plainly name"
        raise BadInput(message, "make an account for measurements, of small letters, digits, - and _")
    return f"{account} ALL=(root) NOPASSWD: NOSETENV: {helper}"


def install(account: str, helper: str, code: str) -> Command:
    """The command that installs the helper as this file, for an account on the host."""
    return script(INSTALL, helper, sudoers_line(account, helper), SUDOERS, root=True, given=code)


def remove(helper: str) -> Command:
    """The command that removes the helper; safe to repeat."""
    return script(REMOVE, helper, SUDOERS, root=True)
