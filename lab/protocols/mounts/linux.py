"""Mounting on Linux: by the kernel's own file system where this kernel has it, else by GVfs; and saying which."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any, ClassVar

from lab.base.errors import LabFailure
from lab.base.untrusted import count, first_line
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import FIND, in_table, is_mounted
from lab.protocols.driver import Attached, Driver, Share, Side, Steps
from lab.protocols.mounts import gvfs
from lab.protocols.options import Option, told
from lab.settings.setting import Setting

# -i keeps helpers out: only the kernel answers, and loads its module if it has one. Nothing gets mounted: there is no
# network file system without a server's name.
PROBE = r"""
if mount -i -t "$1" none /tmp 2>&1 | grep -q 'unknown filesystem type'; then echo no; else echo yes; fi
"""
WORD = re.compile(r"([a-z_]{1,40})(=([A-Za-z0-9.]{1,40}))?")
# $1 entry, $2 mount point. Where the server is dead, umount may wait in the kernel, where no signal reaches it: it is
# left there. From Linux 6.5 on NFS has a switch for each mount that lets fail what waits for the server, now and later.
# Before, -f does so for what waits at that moment, and a process in state D goes on to its next request, until there is
# none left. -l at last takes the mount out of sight; the kernel goes on waiting, as CIFS does for up to some minutes.
UNMOUNT = f"""
entry=$1 point=$2
gone() {{ set -- "$entry"; ! {FIND} >/dev/null; }}
off() {{
    umount $1 "$point" </dev/null >/dev/null 2>&1 &
    tries=0
    while kill -s 0 $! && [ $tries -lt 250 ]; do tries=$((tries + 1)); sleep 0.02; done 2>/dev/null
    gone
}}
off || {{ sleep 0.5; off; }} && exit
switch=/sys/fs/nfs/$(grep -F " $entry " /proc/self/mountinfo | cut -d ' ' -f 3)/shutdown
[ -w "$switch" ] && echo 1 >"$switch"
began=$(date +%s)
while [ $(($(date +%s) - began)) -lt 20 ]; do off -f && exit; sleep 0.3; done
umount -l "$point"
"""


class LinuxMount(Driver):
    """A driver that mounts. A subclass names the kernel's file system and the GVfs address of the share.

    ``versions_of`` stands before the version in the name of a dialect; ``options`` are those of the protocol.
    """

    kernel_type: str | None = None
    options: ClassVar[Mapping[str, Option]] = {}
    versions_of: ClassVar[str] = ""

    def __init__(self) -> None:
        self.kernel_can = self.by_kernel = False
        self.session: gvfs.Session | None = None

    def uri(self, server: Side, share: Share) -> str:
        """The share as GVfs names it."""
        raise NotImplementedError

    def kernel_mount(self, client: Side, server: Side, share: Share) -> tuple[str, str]:
        """The source and the options of ``mount -t``; writes credentials into a file where they are needed."""
        raise NotImplementedError

    def negotiated(self, server: Side, share: Share) -> dict[str, Any]:
        """What client and server agreed on, where the server can tell; the kernel's options are added to it."""
        return {}

    def said_elsewhere(self, client: Side, server: Side, share: Share) -> dict[str, str]:
        """What the kernel says of the mount in another place than its table of mounts, by words of ``options``."""
        return {}

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """Only the kernel's own mount takes any."""
        if options.get("client") == "gvfs":
            self._check_gvfs(client)
        elif ("client" in options or told(options)) and not self._kernel_can(client):
            return f"this client mounts by GVfs, which takes no options: its kernel has no {self.kernel_type}"
        return ""

    def how(self, client: Side) -> str:
        """By the kernel if it can, else by GVfs."""
        if self._kernel_can(client):
            return f"kernel {self.kernel_type}"
        self._check_gvfs(client)
        return "GVfs over FUSE"

    def _kernel_can(self, client: Side) -> bool:
        return self.kernel_type is not None and kernel_has(client, self.kernel_type)

    def _check_gvfs(self, client: Side) -> None:
        gvfs.find_program(client, "gvfsd-fuse")
        client.check_sockets()

    def prepare(self, client: Side) -> Steps:
        """Find out whether the kernel can; if not, start GVfs."""
        self.kernel_can = self.how(client).startswith("kernel")
        if not self.kernel_can:
            self.session = gvfs.Session(client)
            yield from self.session.start()

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Mount the share. A client that is to be GVfs for this mount alone starts it for this mount alone."""
        self.by_kernel = self.kernel_can and share.options.get("client") != "gvfs"
        if self.by_kernel:
            return (yield from self._attach_by_kernel(client, server, share))
        session = self.session or gvfs.Session(client)
        if self.session is None:
            yield from session.start()
        path = yield from session.mount(self.uri(server, share), share.password.get_secret_value())
        effective = {"mount": "gvfs", **self.negotiated(server, share)}
        return Attached(path, effective=effective, options={"client": "gvfs"} if self.options else {})

    def _found(self, said: Mapping[str, str]) -> dict[str, str]:
        return {name: level for name, option in self.options.items() if (level := option.found(said))}

    def _attach_by_kernel(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        source, options = self.kernel_mount(client, server, share)
        path = f"{client.directory}/mnt"
        client.host.run("mkdir", "-p", path)
        asked = (self.options[name].told(level) for name, level in share.options.items())
        options = ",".join(filter(None, [options, *asked]))
        mount = command("mount", "-t", str(self.kernel_type), "-o", options, source, path, root=True, deadline_s=60)
        yield mounted(client, path, mount)
        fields = first_line(client.host.shell(FIND, in_table(path)).stdout, 1000).split(" ")
        if len(fields) < 4:
            raise LabFailure(f"{client.host.role}: the options of the mount {path} cannot be read")
        used = parse_mount_options(fields[3], self.versions_of)
        effective = {"mount": "kernel", **used, **self.negotiated(server, share), "mount_options": fields[3]}
        said = words_of(fields[3]) | self.said_elsewhere(client, server, share) | {"client": "kernel"}
        return Attached(path, effective=effective, options=self._found(said))


def parse_mount_options(text: str, versions_of: str) -> dict[str, Any]:
    """The largest requests (``rsize``, ``wsize``, bytes) and the dialect, where the options of a mount have them."""
    options = dict(option.split("=", 1) for option in text.split(",") if "=" in option)
    found: dict[str, Any] = {
        name: count(options[name]) for name in ("rsize", "wsize") if re.fullmatch("[0-9]{1,18}", options.get(name, ""))
    }
    if re.fullmatch(r"[0-9.]{1,8}", options.get("vers", "")):
        found["dialect"] = versions_of + options["vers"]
    return found


def words_of(text: str) -> dict[str, str]:
    """The options of a mount by name, each with its value or an empty text; without those of odd characters."""
    return {found[1]: found[3] or "" for each in text.split(",") if (found := WORD.fullmatch(each))}


def mounted(client: Side, path: str, mount: Command) -> Setting:
    """The setting of a mount at ``path``, a folder of the lab's own; forced off if its server is dead."""
    return Setting(
        host=client.host.role,
        name=f"mount {path}",
        read=is_mounted(path),
        wanted="mounted",
        apply=(mount,),
        undo=lambda _: (script(UNMOUNT, in_table(path), path, root=True, deadline_s=120),),
    )


def in_private_mounts(text: str, *args: str) -> tuple[str, ...]:
    """A script whose mounts nobody else on the host sees, and which end with it; ``args`` are its ``$1``, ``$2``, …"""
    return ("unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", text, "sh", *args)


def kernel_has(client: Side, kernel_type: str) -> bool:
    """Whether this host's kernel knows a file system; asked of the kernel itself, which may load a module for it."""
    return client.host.shell(PROBE, kernel_type, root=True).stdout.strip() == "yes"
