"""Mounting on Linux: by the kernel if it has the file system, else by GVfs."""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import FIND, in_table, parse_mount_options, split_mount_options
from lab.protocols.driver import Attached, Driver, Share, Side, Steps, Values
from lab.protocols.mounts import gvfs
from lab.protocols.options import SERVER_OPTIONS, Option, mount_option_names, read_levels
from lab.settings.operation import MountedOnLinux, Setting

# -i keeps helpers out: only the kernel answers, and loads its module if it has one. Nothing gets mounted: there is no
# network file system without a server's name.
PROBE = r"""
if mount -i -t "$1" none /tmp 2>&1 | grep -q 'unknown filesystem type'; then echo no; else echo yes; fi
"""
UNMOUNT = f"find_mount() {{ {FIND}; }}\n" + read_script(__file__, "linux_unmount.sh")


@dataclass(frozen=True)
class LinuxShareMount(MountedOnLinux):
    """A share mounted on a Linux host; forced off if its server is dead."""

    kind = "linux-mount"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, in_table(self.path), self.path, root=True, deadline_s=120),)


class LinuxMount(Driver):
    """A driver that mounts. A subclass names the kernel's file system and the GVfs address of the share.

    ``dialect_prefix`` is the name of a dialect before its version, ``options`` are the protocol's, and
    ``gvfs_file_mode`` is :attr:`Attached.file_mode` of a mount by GVfs.
    """

    kernel_type: str | None = None
    options: ClassVar[Mapping[str, Option]] = {}
    dialect_prefix: ClassVar[str] = ""
    gvfs_file_mode: ClassVar[str] = ""

    def __init__(self) -> None:
        self.kernel_can = self.by_kernel = False
        self.session: gvfs.Session | None = None

    def uri(self, server: Side, share: Share) -> str:
        """The share as GVfs names it."""
        raise NotImplementedError

    def kernel_mount(self, client: Side, server: Side, share: Share) -> tuple[str, str]:
        """The source and the options of ``mount -t``; writes credentials into a file where they are needed."""
        raise NotImplementedError

    def read_negotiated(self, server: Side, share: Share) -> Values:
        """What client and server agreed on, if the server can tell; the kernel's options are added."""
        return {}

    def options_outside_table(self, client: Side, server: Side, share: Share) -> dict[str, str]:
        """Options that the kernel reports outside of its table of mounts, by name."""
        return {}

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """Only a mount by the kernel takes options."""
        if options.keys() - self.options.keys() - set(SERVER_OPTIONS):
            return f"the {self.kernel_type} of Linux knows no such option"
        if options.get("client") == "gvfs":
            self._check_gvfs(client)
        elif ("client" in options or mount_option_names(options)) and not self._kernel_can(client):
            return f"this client mounts by GVfs, which takes no options: its kernel has no {self.kernel_type}"
        return ""

    def explain(self, output: str) -> str:
        """The remedy for a name or a password that GVfs calls wrong."""
        reasons = gvfs.REASONS.items()
        return next((remedy for pattern, remedy in reasons if re.search(pattern, output, re.MULTILINE)), "")

    def mount_method(self, client: Side) -> str:
        if self._kernel_can(client):
            return f"kernel {self.kernel_type}"
        self._check_gvfs(client)
        return "GVfs over FUSE"

    def _kernel_can(self, client: Side) -> bool:
        """Whether this account may mount by the kernel, and the kernel knows the file system: it may load a module."""
        if self.kernel_type is None or client.host.lacks_root:
            return False
        return client.host.shell(PROBE, self.kernel_type, root=True).stdout.strip() == "yes"

    def _check_gvfs(self, client: Side) -> None:
        gvfs.check_installed(client)
        client.check_sockets()

    def prepare(self, client: Side) -> Steps:
        """Start GVfs if the kernel cannot mount."""
        self.kernel_can = self._kernel_can(client)
        if not self.kernel_can:
            self._check_gvfs(client)
            self.session = gvfs.Session(client)
            yield from self.session.start()

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Mount the share. If only this mount goes by GVfs, only this mount starts it."""
        self.by_kernel = self.kernel_can and share.options.get("client") != "gvfs"
        if self.by_kernel:
            return (yield from self._attach_by_kernel(client, server, share))
        session = self.session or gvfs.Session(client)
        if self.session is None:
            yield from session.start()
        path = yield from session.mount(self.uri(server, share), share.password.get_secret_value())
        effective = {"mount": "gvfs", **self.read_negotiated(server, share)}
        options = {"client": "gvfs"} if self.options else {}
        return Attached(path, file_mode=self.gvfs_file_mode, effective=effective, options=options)

    def _attach_by_kernel(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        source, options = self.kernel_mount(client, server, share)
        path = f"{client.directory}/mnt"
        client.host.run("mkdir", "-p", path)
        chosen = (self.options[name].mount_option(level) for name, level in share.options.items())
        options = ",".join(filter(None, [options, *chosen]))
        mount = command("mount", "-t", str(self.kernel_type), "-o", options, source, path, root=True, deadline_s=60)
        yield mount_setting(client, path, mount)
        fields = first_line(client.host.shell(FIND, in_table(path)).stdout, 1000).split(" ")
        if len(fields) < 4:
            raise LabFailure(f"the options of the mount {path} cannot be read", host=client.host.name)
        limits = parse_mount_options(fields[3], self.dialect_prefix)
        effective = {"mount": "kernel", **limits, **self.read_negotiated(server, share), "mount_options": fields[3]}
        mounted_with = split_mount_options(fields[3]) | self.options_outside_table(client, server, share)
        levels = read_levels(self.options, mounted_with | {"client": "kernel"})
        return Attached(path, effective=effective, options=levels)


def mount_setting(client: Side, path: str, mount: Command) -> Setting:
    """The setting of a mount at ``path``, a folder of the lab's own."""
    return Setting(client.host.name, LinuxShareMount(path), "mounted", (mount,))


def in_private_mounts(text: str, *args: str) -> tuple[str, ...]:
    """A script whose mounts are invisible to others and end with it; ``args`` are its ``$1``, ``$2``, …"""
    return ("unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", text, "sh", *args)
