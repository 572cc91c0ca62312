"""The Debian root filesystem that both hosts stand on: built once by mmdebstrap, cached, never written again.

Guests with kernels of their own get it as the image of a disk, with the kernel in it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import BadInput, LabFailure

SUITE = "trixie"  # bookworm has no netatalk; later suites have dropped AFP from GVfs
PACKAGES = (
    # reaching and running a host
    *("openssh-server", "sudo", "tini", "procps", "perl"),
    # its network
    *("iproute2", "ethtool", "iputils-ping", "iperf3"),
    # servers
    *("samba", "netatalk", "nfs-ganesha", "nfs-ganesha-vfs", "rpcbind"),
    # clients
    *("cifs-utils", "nfs-common", "gvfs-backends", "gvfs-fuse", "libglib2.0-bin", "dbus", "dbus-bin", "fuse3", "rsync"),
    # on a kernel of its own: its modules, its NFS server
    *("kmod", "nfs-kernel-server"),
)
LEFT_OUT = ("man", "doc", "locale", "info")
# The kernel of guests, where Debian has it. That of SUITE, 6.12, dies on some processors ("ptrace set fp regs failed"),
# probably those with AMX, which have more registers than it thinks. The next one boots there. A suite that still moves
# may not have it today: hosts that share this kernel do without.
UML_MACHINE, UML_SUITE, UML_PROGRAM = "x86_64", "forky", "usr/bin/linux.uml"
UML_HOOK = f"""--customize-hook=list=etc/apt/sources.list.d/uml.list
sed -n 's/ {SUITE} / {UML_SUITE} /p' "$1/etc/apt/sources.list" > "$1/$list"
chroot "$1" apt-get update && chroot "$1" apt-get install --yes user-mode-linux/{UML_SUITE} ||
    echo "W: no kernel for guests: {UML_SUITE}'s user-mode-linux cannot be installed" >&2
rm "$1/$list" """
HOOKS = (
    # services must not start while packages are installed
    """--setup-hook=mkdir -p "$1/usr/sbin"; printf '#!/bin/sh\\nexit 101\\n' > "$1/usr/sbin/policy-rc.d"; """
    """chmod 755 "$1/usr/sbin/policy-rc.d" """,
    """--customize-hook=chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash --groups sudo lab""",
    *((UML_HOOK,) if platform.machine() == UML_MACHINE else ()),
    """--customize-hook=rm -f "$1"/etc/ssh/ssh_host_*; rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* """,
)
BUILD_MINUTES = 30
IMAGE_SIZE = "8G"  # takes as much of this machine's disk as is in it: the rest is a hole


def cache_directory() -> Path:
    """Where root filesystems are kept: ``$FILE_SHARE_LAB_CACHE``, or the user's cache folder."""
    given = os.environ.get("FILE_SHARE_LAB_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "file-share-lab"


def path() -> Path:
    """The folder of this recipe's root filesystem, built or not: another recipe has another name."""
    recipe = "\n".join([SUITE, *PACKAGES, *LEFT_OUT, *HOOKS])
    return cache_directory() / f"rootfs-{SUITE}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def ensure() -> Path:
    """The built root filesystem; builds it first where it is missing (about a minute, some 500 MB).

    Two callers at once build one: the second waits. Raises LabFailure with the last words of mmdebstrap.
    """
    root = path()
    with _alone():
        if not root.is_dir():
            _build(root)
    return root


def image_path() -> Path:
    """The image of this root filesystem, built or not."""
    return path().with_suffix(".ext4")


def ensure_image() -> Path:
    """The root filesystem as the image of an ext4 disk; builds what is missing first (some seconds, 800 MB).

    Raises LabFailure with what mke2fs said, or where there was no kernel for guests when the root was built.
    """
    root, image = ensure(), image_path()
    if not (root / UML_PROGRAM).exists():
        raise LabFailure(
            f"{root} has no kernel for guests: {UML_SUITE}'s user-mode-linux could not be installed when it was built; "
            "remove that folder to build it again"
        )
    with _alone():
        if not image.exists():
            _build_image(root, image)
    return image


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock that keeps one builder from another."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "rootfs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_image(root: Path, image: Path) -> None:
    part = image.with_suffix(".part")
    print(f"Building the image of the guests' disk (once, seconds) in {image}", file=sys.stderr, flush=True)
    command = ["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-J", "size=16", "-E", "lazy_itable_init=0"]
    command += ["-d", str(root), str(part), IMAGE_SIZE]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=BUILD_MINUTES * 60)
    except FileNotFoundError as error:
        raise BadInput("mke2fs is missing: `apt-get install e2fsprogs`") from error
    except subprocess.CalledProcessError as error:
        part.unlink(missing_ok=True)
        raise LabFailure(f"building {image} failed: {error.stderr.strip()}") from error
    part.rename(image)


def _build(root: Path) -> None:
    if shutil.which("mmdebstrap") is None:
        raise BadInput("mmdebstrap is missing: `apt-get install mmdebstrap`, or `make demo`, which does it")
    part = root.with_name(root.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    print(f"Building the hosts' root filesystem (once, about a minute) in {root}", file=sys.stderr, flush=True)
    command = [
        "mmdebstrap",
        "--variant=minbase",
        "--format=directory",
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--aptopt={name} {value}" for name, value in _apt_settings().items()),
        *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in LEFT_OUT),
        *HOOKS,
        f"--include={','.join(PACKAGES)}",
        SUITE,
        str(part),
        *_mirror(),
    ]
    try:
        # its progress goes to the terminal as it comes: a minute of silence looks like a hang
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=BUILD_MINUTES * 60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        shutil.rmtree(part, ignore_errors=True)
        raise LabFailure(
            f"building the root filesystem failed ({error}); mmdebstrap's own message stands above"
        ) from error
    part.rename(root)


def _mirror() -> list[str]:
    """The Debian mirror of this machine's own apt configuration; nothing where it has none (then mmdebstrap's own)."""
    listed = _output("apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages")
    rows = [line.split("|") for line in listed.splitlines()]
    return next(([row[2]] for row in rows if row[:2] == ["Debian", "Debian"]), [])


def _apt_settings() -> dict[str, str]:
    """How strictly this machine's own apt takes the dates in release files: the same holds for the build."""
    names = ("Acquire::Check-Valid-Until", "Acquire::Check-Date")
    found = {name: _output("apt-config", "shell", "V", name).strip() for name in names}
    return {name: '"' + value.removeprefix("V=").strip("'") + '"' for name, value in found.items() if value}


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""  # not a Debian machine, or its lists were never fetched: mmdebstrap's defaults serve
