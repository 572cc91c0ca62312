"""Mounting on a Mac: by file systems of its kernel, at a folder of the lab's own that Finder does not show."""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from lab.base.errors import Absent, LabFailure
from lab.base.scripts import beside, read_script
from lab.base.untrusted import first_line, printable
from lab.hosts.assumptions import Capture
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import parse_mounts, real_path
from lab.protocols.driver import Attached, Driver, Share, Side, Values
from lab.protocols.options import SERVER_OPTIONS, Option, read_levels
from lab.settings.operation import MountedOnMac, Setting

# Remedies that hold for several protocols
ALREADY_MOUNTED = "this Mac has that share mounted already, Finder perhaps: eject it there, or `umount` it"
# The limit of sockets that ask for a size of their own
BUFFER_LIMIT = "kern.ipc.maxsockbuf, which can be lowered until the next restart,"
PROMPT = read_script(__file__, "prompt.pl")
MOUNTING = beside(__file__, "macos_assumptions.toml")
UNMOUNT = 'umount "$1" || { sleep 1; umount "$1"; }'
# For a mount that is still there after UNMOUNT: its server may be dead, or a program may hold it
FORCE = 'table=$(mount); case $table in *" on $1 ("*) umount -f "$1" || diskutil unmount force "$1" ;; esac'


@dataclass(frozen=True)
class MacShareMount(MountedOnMac):
    """A share mounted on a Mac; forced off if it does not go."""

    kind = "mac-mount"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return script(UNMOUNT, self.path, root=True), script(FORCE, self.path, root=True)


class MacMount(Driver):
    """A driver that mounts.

    A subclass names the kernel's file system and the program that mounts; ``gone`` and ``gone_remedy`` explain why that
    program may be missing. ``reasons`` are patterns of a failed command's output with their remedies; the first match
    counts. ``options`` are the options of a sweep that it can give a mount.
    """

    own_server = False
    file_system: ClassVar[str]
    program: ClassVar[str]
    gone: ClassVar[str]
    gone_remedy: ClassVar[str] = ""
    reasons: ClassVar[Mapping[str, str]] = {}
    options: ClassVar[Mapping[str, Option]] = {}
    captures: ClassVar[tuple[Capture, ...]] = (Capture(name="mount", ask="mount", parse=parse_mounts),)

    def mount(self, client: Side, server: Side, share: Share, path: str) -> Command:
        """The command that mounts the share at ``path``."""
        raise NotImplementedError

    def read_negotiated(self, client: Side, server: Side, share: Share, path: str) -> tuple[Values, Mapping[str, str]]:
        """What client and server agreed on, as either of them tells, and what ``options`` are read back from."""
        return {}, {}

    def mount_method(self, client: Side) -> str:
        """The kernel. Raises Absent if the program that mounts is missing."""
        if not client.has_program(self.program):
            raise Absent(f"no {self.program}: {self.gone}", self.gone_remedy, host=client.host.name)
        return f"kernel {self.file_system}"

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """It knows the mount options in ``options``; the server's options do not concern it."""
        unknown = options.keys() - self.options.keys() - set(SERVER_OPTIONS)
        return f"the {self.file_system} of a Mac knows no such option" if unknown else ""

    def explain(self, output: str) -> str:
        return next((remedy for pattern, remedy in self.reasons.items() if re.search(pattern, output)), "")

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Mount the share, look at it once, and read back what came of it."""
        client.host.run("mkdir", "-p", f"{client.directory}/mnt")
        path = real_path(client.host, f"{client.directory}/mnt")
        yield Setting(client.host.name, MacShareMount(path), "mounted", (self.mount(client, server, share, path),))
        client.host.shell('ls "$1" >/dev/null', path)
        flags = read_mount_options(client, path, self.file_system)
        negotiated, mounted_with = self.read_negotiated(client, server, share, path)
        effective = {"mount": "kernel", **negotiated, "mount_options": flags}
        return Attached(path, effective=effective, options=read_levels(self.options, mounted_with))

    def chosen_options(self, share: Share) -> list[str]:
        """The options of this share, in the words of macOS."""
        return [self.options[name].mount_option(level) for name, level in share.options.items() if name in self.options]


def answer_prompt(client: Side, share: Share, *argv: str) -> Command:
    """A command that gets the share's password at a terminal of its own, because everybody can read arguments."""
    program = client.write("prompt.pl", PROMPT)
    password = share.password.get_secret_value() + "\n"
    return command("perl", program, *argv, given=password, deadline_s=60)


def read_mount_options(client: Side, path: str, file_system: str) -> str:
    """The options of the mount at ``path``, as the table has them. Raises LabFailure where another kind is there."""
    table = client.host.run("mount").stdout
    try:
        kind, options = parse_mounts(table)[path]
    except KeyError:
        raise LabFailure(f"mount shows nothing at {path}: {printable(table)[:500]}", host=client.host.name) from None
    if kind != file_system:
        message = f"at {path} is a mount of {first_line(kind)}, not of {file_system}"
        raise LabFailure(message, host=client.host.name)
    return first_line(options)


def parse_df_point(text: str) -> str:
    """The mount point in the last line of ``df -P``. Raises LabFailure if there is none."""
    match = re.search(r"\s[0-9]+%\s+(/.*?)\s*\Z", text)
    if not match:
        raise LabFailure(f"df -P names no mount point: {text!r:.200}")
    return match[1]
