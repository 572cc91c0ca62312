"""The Debian root filesystem under all hosts, and how such folders of packages are built: once, by mmdebstrap."""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput, LabFailure

BUILD_MINUTES = 30
LEFT_OUT = ("man", "doc", "locale", "info")
SUITE = "trixie"  # bookworm has no netatalk; later suites have dropped AFP from GVfs
PACKAGES = (
    # reaching and running a host
    *("openssh-server", "sudo", "tini", "procps", "perl", "tcsh"),
    # its network
    *("iproute2", "ethtool", "iputils-ping", "iperf3"),
    # servers
    *("samba", "netatalk", "nfs-ganesha", "nfs-ganesha-vfs", "rpcbind"),
    # clients
    *("cifs-utils", "nfs-common", "gvfs-backends", "gvfs-fuse", "libglib2.0-bin", "dbus", "dbus-bin", "fuse3", "rsync"),
    "libmimalloc3",  # lab/protocols/mounts/gvfs_mountable.sh says why
    # on a kernel of its own: its modules, its NFS server
    *("kmod", "nfs-kernel-server"),
    # RAM disks and images with a file system
    *("e2fsprogs", "xfsprogs", "btrfs-progs"),
    # tools of sweeps
    *("fio", "bonnie++"),
    # access control lists
    "acl",
)
HOOKS = (
    # services must not start while packages are installed
    """--setup-hook=mkdir -p "$1/usr/sbin"; printf '#!/bin/sh\\nexit 101\\n' > "$1/usr/sbin/policy-rc.d"; """
    """chmod 755 "$1/usr/sbin/policy-rc.d" """,
    """--customize-hook=chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash --groups sudo lab""",
    """--customize-hook=rm -f "$1"/etc/ssh/ssh_host_*; rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* """,
)


def cache_directory() -> Path:
    """The folder of root filesystems: ``$FILE_SHARE_LAB_CACHE``, or the user's cache folder."""
    override = os.environ.get("FILE_SHARE_LAB_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(override) if override else base / "file-share-lab"


def path() -> Path:
    """The folder of the root filesystem of this recipe, built or not."""
    return cache_directory() / f"rootfs-{SUITE}-{digest(SUITE, *PACKAGES, *LEFT_OUT, *HOOKS)}"


def digest(*recipe: str) -> str:
    """A hash of a recipe, for the name of its folder."""
    return hashlib.sha256("\n".join(recipe).encode()).hexdigest()[:12]


def ensure() -> Path:
    """Build the root filesystem if it is missing, in about a minute and 450 MB. Raises LabFailure and BadInput."""
    options = ("--variant=minbase", *HOOKS)
    title = "the hosts' root filesystem (once, about a minute)"
    return build_once(path(), title, lambda folder: install_debian(folder, SUITE, PACKAGES, *options))


def build_once(target: Path, title: str, build: Callable[[Path], None]) -> Path:
    """Build ``target`` by ``build`` if it is missing; ``title`` is for people. A second caller waits for the first."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with os.fdopen(durable.open_own(target.with_name(target.name + ".lock"), os.O_WRONLY), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            shutil.rmtree(part, ignore_errors=True)
            print(f"Building {title} in {target}", file=sys.stderr, flush=True)
            try:
                build(part)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
            part.rename(target)
    return target


def install_debian(folder: Path, suite: str, packages: Sequence[str], *options: str) -> None:
    """Let mmdebstrap make a folder of these packages of a suite. Raises LabFailure if it fails."""
    if shutil.which("mmdebstrap") is None:
        raise BadInput("mmdebstrap is missing", "`apt-get install mmdebstrap`, or `make demo`, which does it")
    command = [
        "mmdebstrap", "--format=directory", '--aptopt=APT::Install-Recommends "false"',
        *(f'--aptopt={name} "{value}"' for name, value in _apt_settings().items() if value),
        *(f"--dpkgopt=path-exclude=/usr/share/{left_out}/*" for left_out in LEFT_OUT),
        *options, f"--include={','.join(packages)}", suite, str(folder), *_mirror(),
    ]  # fmt: skip
    try:
        # the terminal shows the progress, because a minute of silence looks like a hang
        subprocess.run(  # noqa: S603 – mmdebstrap, with words of the local lab's own
            command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=BUILD_MINUTES * 60
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        problem = f"exit code {error.returncode}" if isinstance(error, subprocess.CalledProcessError) else "no end"
        message = f"building {folder} of Debian's {suite} failed: mmdebstrap: {problem}"
        raise LabFailure(message, "see its own message above") from error


def run_in_private_mounts(script: str, *words: str) -> None:
    """Run a shell script with private mounts. Raises LabFailure with its error output."""
    command = ["unshare", "--mount", "--", "sh", "-c", script, "sh", *words]
    result = subprocess.run(  # noqa: S603 – a script that is a constant
        command, capture_output=True, text=True, timeout=BUILD_MINUTES * 60, check=False
    )
    if result.returncode != 0:
        raise LabFailure(f"{shlex.join(command)}: exit code {result.returncode}: {result.stderr.strip()}")


def _mirror() -> list[str]:
    """The Debian mirror of this machine's apt configuration; empty if it has none, and mmdebstrap uses its own."""
    columns = "$(ORIGIN)|$(LABEL)|$(REPO_URI)"
    listed = _read_output("apt-get", "indextargets", "--format", columns, "Created-By: Packages")
    rows = [line.split("|") for line in listed.splitlines()]
    return next(([row[2]] for row in rows if row[:2] == ["Debian", "Debian"]), [])


def _apt_settings() -> dict[str, str]:
    """This machine's apt settings for the dates in release files; empty for a default."""
    names = ("Acquire::Check-Valid-Until", "Acquire::Check-Date")
    printed = {name: _read_output("apt-config", "shell", "V", name) for name in names}
    return {name: text.strip().removeprefix("V=").strip("'") for name, text in printed.items()}


def _read_output(*command: str) -> str:
    try:
        return subprocess.run(  # noqa: S603 – questions to apt that are constants
            command, capture_output=True, text=True, check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""  # no Debian, or no package lists: mmdebstrap has defaults
