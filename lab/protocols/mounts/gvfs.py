"""GVfs over FUSE: how a Linux client mounts a share if its kernel cannot. No desktop or login is needed.

The lab starts its own session: D-Bus, gvfsd and gvfsd-fuse, separate from a logged-in person's.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts.command import Command, script, shell_line
from lab.hosts.mounts import FIND, in_table
from lab.hosts.systems import how_to_install
from lab.protocols.driver import Side, Steps
from lab.settings.background import Process, background_process
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OwnPath

# No service folders: nothing but what is started here ever runs on this bus
BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow own="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
</policy></busconfig>
"""
MOUNTABLE = read_script(__file__, "gvfs_mountable.sh")
DAEMON_FOLDERS = "/usr/libexec /usr/lib/gvfs /usr/lib/x86_64-linux-gnu/gvfs /usr/lib/aarch64-linux-gnu/gvfs"
MOUNT = read_script(__file__, "gvfs_mount.sh")
# $1 URI
LOCAL_PATH = r"""
path=$(gio info "$1" | sed -n 's/^local path: //p')
[ -n "$path" ] && echo "$path" || { echo "gio knows no local path of $1" >&2; exit 1; }
"""
# FUSE may show nothing for a moment after the mount. $1 entry, $2 mount point. The share itself is not listed, because
# NFS may fail as long as it remembers a file that was removed on the server.
SHOWS_SHARE = f'{FIND} >/dev/null && for share in "$2"/*; do test -d "$share" || exit; done'
SHOW = read_script(__file__, "gvfs_show.sh")
# A mount may outlive its process. $1 entry, then the command that reads the state of the process
FUSE_STATE = f"""
entry=$1; shift; state=$("$@") || exit; set -- "$entry"
if [ "$state" = absent ] && {FIND} >/dev/null; then echo remains; else echo "$state"; fi
"""
IS_MOUNTED = 'if timeout 10 gio info "$1" >/dev/null 2>&1; then echo mounted; else echo absent; fi'
# As the account, by the program that mounted it, which unmounts nothing of others. $1 entry, $2 mount point
UNMOUNT_FUSE = f"""
if {FIND} >/dev/null; then fusermount3 -u -z "$2" || fusermount -u -z "$2" || umount -l "$2"; fi
"""
UNMOUNT = 'timeout 10 gio mount -u "$1" || timeout 10 gio mount -f -u "$1"'
# A share that the server does not have, or does not show, as gio and mount_smbfs of a Mac say it
NO_SHARE = (
    r"^ *gio: .*(No such file or directory|Volume doesn.t exist|Mount point does not exist)$|"
    r"share connection failed|-1073741620\b"
)
# Messages of `gio mount` that another try would not change, and the remedy
REASONS = {
    r"^ *gio mount .*: the password was refused": "are the account and its password right, and may it use the share?",
    NO_SHARE: "is the name of the share right, and may this account use it?",
}
# what share_uri makes
Uri = Annotated[str, Field(pattern=r"^(afp|smb|nfs)://[A-Za-z0-9._~%;:@/-]{1,4000}$")]


@dataclass(frozen=True)
class GvfsMount(Operation):
    """A share mounted in a GVfs session of the lab's own."""

    kind = "gvfs-mount"
    label_format = "mount {uri}"
    is_private = True
    values = "absent|mounted"

    directory: OwnPath
    """The session's folder."""
    uri: Uri
    """The share, as GVfs names it."""

    def read(self) -> Command:
        return in_session(self.directory, IS_MOUNTED, self.uri)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (in_session(self.directory, UNMOUNT, self.uri),)


@dataclass(frozen=True)
class GvfsFuse(Operation):
    """The FUSE mount that shows the shares of a GVfs session of the lab's own, and its process."""

    kind = "gvfs-fuse"
    label = "FUSE mount of GVfs"
    is_private = True
    values = "absent|remains|running"

    directory: OwnPath
    """The session's folder."""

    @property
    def place(self) -> str:
        return f"{self.directory}/run/gvfs"

    @property
    def entry(self) -> str:
        """How the table of mounts shows it."""
        return f"{in_table(self.place)} fuse.gvfsd-fuse"

    @property
    def process(self) -> Process:
        return Process(self.directory, "gvfsd-fuse", root=False)

    def read(self) -> Command:
        return script(FUSE_STATE, self.entry, *self.process.read().argv)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT_FUSE, self.entry, self.place), *self.process.undo("absent"))


class Session:
    """A client's GVfs session; ``directory`` is its folder in the lab's own folder."""

    def __init__(self, client: Side):
        self.client = client
        self.directory = f"{client.directory}/gvfs"

    def start(self) -> Steps:
        """The bus and gvfsd. Raises Unsupported where GVfs is not installed."""
        gvfsd = find_program(self.client, "gvfsd")
        self.client.host.shell(MOUNTABLE, self.directory)
        bus = f"{self.directory}/run/bus"
        config = self.client.write("gvfs/bus.conf", BUS_CONFIG.format(address=bus_address(bus)))
        dbus = ("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={config}")
        yield self._daemon("dbus", dbus, shell_line('[ -S "$1" ]', bus))
        list_shares = shell_line('"$@" gio list computer:/// >&2 || true', *_environment(self.directory))
        yield self._daemon("gvfsd", (gvfsd, "--no-fuse"), list_shares)

    def mount(self, uri: str, password: str) -> Generator[Setting, None, str]:
        """Mount a share, shown by a new FUSE mount, which alone makes a client cold; returns the share's folder."""
        host = self.client.host
        mount = in_session(self.directory, MOUNT, uri, given=password + "\n", deadline_s=330)
        yield Setting(host.name, GvfsMount(self.directory, uri), "mounted", (mount,))
        program, fuse = find_program(self.client, "gvfsd-fuse"), GvfsFuse(self.directory)
        # noforget: a file keeps its number when the kernel drops its entry for want of memory, or cp refuses the file
        argv = (program, fuse.place, "-f", "-o", "noforget")
        process = self._daemon("gvfsd-fuse", argv, shell_line(SHOWS_SHARE, fuse.entry, fuse.place))
        show = in_session(self.directory, SHOW, uri, *process.apply[0].argv, deadline_s=60)
        yield Setting(host.name, fuse, "running", (show,))
        return in_session(self.directory, LOCAL_PATH, uri).run(host)

    def _daemon(self, name: str, argv: tuple[str, ...], ready: str) -> Setting:
        words = (*_environment(self.directory), *argv)
        return background_process(self.client.host.name, name, words, self.directory, ready, root=False)


def in_session(directory: str, text: str, *args: str, given: str = "", deadline_s: float = 30.0) -> Command:
    """A script that runs in the GVfs session of this folder; ``args`` are its ``$1``, ``$2``, …"""
    words = (*_environment(directory), "/bin/sh", "-c", text, "sh", *args)
    return Command(words, given=given, deadline_s=deadline_s)


def _environment(directory: str) -> tuple[str, ...]:
    return (
        "env",
        "LC_ALL=C.UTF-8",  # or gio would print ? for most letters of a path
        f"XDG_RUNTIME_DIR={directory}/run",
        f"DBUS_SESSION_BUS_ADDRESS={bus_address(f'{directory}/run/bus')}",
        f"GVFS_MOUNTABLE_DIR={directory}/mountable",
        "GIO_USE_VOLUME_MONITOR=unix",
        "GVFS_REMOTE_VOLUME_MONITOR_IGNORE=1",
        "GVFS_DISABLE_FUSE=1",
    )


def bus_address(path: str) -> str:
    """The address of a D-Bus socket: all but a few characters escaped, which leaves none that XML minds."""
    return "unix:path=" + quote(path, safe="/").replace("~", "%7E")


def find_program(client: Side, name: str) -> str:
    """The path of one of GVfs's own programs, which stand in no PATH. Raises Unsupported where it is not installed."""
    find = f'for folder in {DAEMON_FOLDERS}; do [ -x "$folder/$1" ] && echo "$folder/$1"; done; :'
    paths = client.host.shell(find, name).stdout.split()
    if not paths:
        raise _missing(client, name)
    return paths[0]


def check_installed(client: Side) -> None:
    """Raise Unsupported if a program is missing that a mount by GVfs takes."""
    find_program(client, "gvfsd-fuse")
    for name in ("gio", "dbus-daemon"):
        if not client.has_program(name):
            raise _missing(client, name)


def _missing(client: Side, name: str) -> Unsupported:
    remedy = how_to_install(client.host, "gvfs-backends gvfs-fuse libglib2.0-bin dbus")
    message = f"no {name}: it is part of GVfs, which mounts AFP, and other shares without root"
    return Unsupported(message, remedy, host=client.host.name)


def share_uri(scheme: str, user: str, address: str, path: str) -> str:
    """``scheme://user@address/path``, with whatever could break it percent-encoded.

    GVfs's AFP takes the brackets of an IPv6 address for a part of the host's name, and its SMB the ``%25`` inside them.
    All of GVfs takes an address without brackets and with ``%3A`` for the colons.
    """
    login = f"{quote(user, safe=';')}@" if user else ""
    return f"{scheme}://{login}{quote(address, safe='')}/{quote(path.strip('/'), safe='/')}"
