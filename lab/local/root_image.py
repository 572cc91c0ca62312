"""The Debian root filesystem under all hosts: built once by mmdebstrap, cached, and only read."""

import hashlib
import os
from pathlib import Path

from lab.local import image_builder

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
    "fio",
    "bonnie++",
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
    return cache_directory() / f"rootfs-{SUITE}-{digest(SUITE, *PACKAGES, *image_builder.LEFT_OUT, *HOOKS)}"


def digest(*recipe: str) -> str:
    """A hash of a recipe, for the name of its folder."""
    return hashlib.sha256("\n".join(recipe).encode()).hexdigest()[:12]


def ensure() -> Path:
    """Build the root filesystem if it is missing, which takes about a minute and 450 MB.

    Raises LabFailure if mmdebstrap fails, BadInput if it is missing.
    """

    def build(folder: Path) -> None:
        image_builder.install_debian(folder, SUITE, PACKAGES, "--variant=minbase", *HOOKS)

    return image_builder.build_once(path(), "the hosts' root filesystem (once, about a minute)", build)
