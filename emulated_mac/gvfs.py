"""Mount shares by GVfs over FUSE: this is what mount_smbfs, mount_nfs and mount_afp really do. Each mount has its own
session: a private D-Bus, gvfsd and gvfsd-fuse, which run as the user who mounts. The emulated kernel opens /dev/fuse
and mounts, as a Mac's kernel does. The Mac's programs see only the share, bound to the mount point.
"""

import errno
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from . import linux_syscalls, privacy_mount
from .linux_programs import Daemon, environment, linux_command

FOLDER = Path("/private/var/fuse")
LIBEXEC = "/usr/libexec"
SESSION = Path(__file__).with_name("gvfs_session.sh")
BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow own="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
</policy></busconfig>
"""
# What gio prints instead of error numbers
ERRORS = {
    "Permission denied": errno.EACCES,
    "Invalid argument": errno.EACCES,  # an empty password
    "No such file or directory": errno.ENOENT,
    "Connection refused": errno.ECONNREFUSED,
}
AFP_TRIES = 4
MOUNT_DEADLINE_S = 60.0  # on a busy machine refusing a password takes long too
START_DEADLINE_S = 30.0


class Session:
    """One user's D-Bus, gvfsd and gvfsd-fuse, with one share. Raises OSError if the share cannot be mounted: EACCES,
    ENOENT, ECONNREFUSED, ETIMEDOUT or EIO.
    """

    def __init__(self, uri: str, password: str, user: int, smb_conf: str, *, reserved: bool = False):
        self._user = user
        self._capability = "net_bind_service" if reserved else "sys_nice" if uri.startswith("afp:") else ""
        self._folder = Path(tempfile.mkdtemp(dir=FOLDER))
        self._cleanups: list[Callable[[], None]] = []
        try:
            self._prepare(smb_conf)
            self._start(uri, password)
        except BaseException:
            self.end()
            raise

    def _prepare(self, smb_conf: str) -> None:
        account = pwd.getpwuid(self._user)
        for folder in (self._folder, self._folder / "fs", self._folder / "mountable", self._folder / ".smb"):
            folder.mkdir(mode=0o700, exist_ok=True)
            os.chown(folder, account.pw_uid, account.pw_gid)
        (self._folder / "bus.conf").write_text(BUS_CONFIG.format(folder=self._folder))
        (self._folder / ".smb/smb.conf").write_text(smb_conf)
        for file in Path("/linux/usr/share/gvfs/mounts").glob("*.mount"):
            text = file.read_text()
            if file.name.startswith("afp"):  # lab/protocols/mounts/gvfs_mountable.sh says why
                real_time = "/usr/bin/chrt -r 1 " if _may_be_real_time() else ""
                text = text.replace("Exec=", f"Exec=/usr/bin/env LD_PRELOAD=libmimalloc.so.3 {real_time}")
            (self._folder / "mountable" / file.name).write_text(text)

    def _start(self, uri: str, password: str) -> None:
        device = os.open("/dev/fuse", os.O_RDWR)
        try:
            self._mount_fuse(device)
            session = Daemon(
                SESSION,
                str(self._folder),
                LIBEXEC,
                str(device),
                log=self._folder / "log",
                user=self._user,
                variables=self._environment(),
                descriptors=(device,),
                capability=self._capability,
            )
        finally:
            os.close(device)
        self._cleanups.append(session.stop)
        self._wait_for((self._folder / "bus").exists)
        self.run("gdbus", "wait", "--session", "--timeout", str(int(START_DEADLINE_S)), "org.gtk.vfs.Daemon")
        self._log_in(uri, password)

    def _log_in(self, uri: str, password: str) -> None:
        """Log in, several times if needed: AFP's DHX2 logins fail now and then with the right password too. If several
        tries failed, raise the refusal rather than a timeout.
        """
        failures: list[OSError] = []
        for _ in range(AFP_TRIES if uri.startswith("afp:") else 1):
            try:
                self.run("gio", "mount", uri, stdin=password)
            except OSError as error:
                failures.append(error)
                time.sleep(0.2)
            else:
                return
        raise next((error for error in failures if error.errno == errno.EACCES), failures[-1])

    def _mount_fuse(self, device: int) -> None:
        account = pwd.getpwuid(self._user)
        options = f"fd={device},rootmode=40000,user_id={account.pw_uid},group_id={account.pw_gid},allow_other"
        mount = ("/linux/usr/bin/mount", "-i", "-t", "fuse.gvfsd-fuse", "-o", options, "share", self._fuse)
        subprocess.run(mount, check=True, pass_fds=[device], env=environment())
        self._cleanups.append(lambda: linux_syscalls.unmount(self._fuse, force=True))

    @property
    def _fuse(self) -> str:
        return str(self._folder / "fs")

    def share_folder(self) -> Path:
        """The share's folder, which appears in the FUSE mount a moment after the share is mounted."""
        folders: list[Path] = []

        def find_folder() -> bool:
            with suppress(OSError):
                folders.extend(path for path in Path(self._fuse).iterdir() if path.is_dir())
            return bool(folders)

        self._wait_for(find_folder)
        return folders[0]

    def _wait_for(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_DEADLINE_S
        while not ready():
            if time.monotonic() > deadline:
                raise OSError(errno.EIO, "GVfs does not start")
            time.sleep(0.01)

    def _environment(self) -> dict[str, str]:
        return {
            "HOME": str(self._folder),
            "XDG_RUNTIME_DIR": str(self._folder),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self._folder}/bus",
            "GVFS_MOUNTABLE_DIR": str(self._folder / "mountable"),
            "GIO_USE_VOLUME_MONITOR": "unix",
            "GVFS_REMOTE_VOLUME_MONITOR_IGNORE": "1",
            "GVFS_DISABLE_FUSE": "1",
        }

    def run(self, *argv: str, stdin: str = "") -> str:
        """Run a program in the session and return its output. Raises OSError: ETIMEDOUT after a minute. The deadline is
        needed because gio asks for a refused password again and again.
        """
        environ = environment() | self._environment()
        command = linux_command(*argv, user=self._user)
        try:
            done = subprocess.run(
                command, input=f"{stdin}\n", env=environ, capture_output=True, text=True, timeout=MOUNT_DEADLINE_S
            )
        except subprocess.TimeoutExpired as error:
            raise OSError(errno.ETIMEDOUT, f"{argv[0]}: no answer") from error
        if done.returncode != 0:
            with (self._folder / "log").open("a") as log:
                log.write(done.stdout + done.stderr)
            print(f"{' '.join(argv)}: {done.stdout}{done.stderr}", flush=True)
            raise OSError(_error_code(done.stdout + done.stderr), argv[0])
        return done.stdout

    def end(self) -> None:
        """End its processes and mounts, and remove its folder."""
        for clean_up in reversed(self._cleanups):
            clean_up()
        self._cleanups.clear()
        shutil.rmtree(self._folder)


class Share:
    """One share, mounted at ``target``; with ``denied`` nobody may look into it. Raises OSError."""

    def __init__(self, session: Session, target: str, user: int, *, denied: bool):
        self._session, self._target = session, target
        try:
            folder = session.share_folder()
            if denied:
                privacy_mount.mount(target, user, pwd.getpwuid(user).pw_gid)
            else:
                bind = ["/linux/usr/bin/mount", "--bind", str(folder), target]
                subprocess.run(bind, check=True, env=environment())
        except BaseException:
            session.end()
            raise

    def unmount(self, force: bool) -> None:
        """Unmount it and end its session; EBUSY while something has it open, unless by force."""
        linux_syscalls.unmount(self._target, force)
        self._session.end()


def _error_code(output: str) -> int:
    """The errno for gio's output. If gio asks for the password twice, it refused the password."""
    if output.count("Authentication Required") > 1:
        return errno.EACCES
    return next((code for words, code in ERRORS.items() if words in output), errno.EIO)


def _may_be_real_time() -> bool:
    command = ["/linux/usr/bin/chrt", "-r", "1", "/linux/usr/bin/true"]
    return subprocess.run(command, capture_output=True, env=environment()).returncode == 0
