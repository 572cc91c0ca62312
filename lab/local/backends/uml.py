"""Hosts with kernels of their own by User Mode Linux: a kernel that is a process, so it needs no virtualization.

The kernel is the one that the root filesystem brings along, so it finds the C library that it was linked against; its
disk is one image for all guests, never written, with the blocks that a guest writes in a file of its own.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from lab.errors import BadInput
from lab.local import disk, rootfs, state
from lab.local.backends.base import Backend
from lab.local.commands import inside, must, run
from lab.local.platforms import LINUX
from lab.local.state import ADDRESS, DATA_INTERFACE, HOSTS, PREFIX_LENGTH, Lab

INIT = Path(__file__).with_name("guest.sh")
FILES = "/opt/guest"  # in the root around the guest, and, unpacked from the seed, in the guest's own
MEMORY_MIB = 3072  # taken as it is touched; idle, a guest has 90 MiB
LARGEST_MTU = 9000
HERE, GUEST = "192.0.2.1", "192.0.2.2"  # the management link, alike in every host: it ends in the namespace
MANAGEMENT, DATA = "management", "data"  # its taps, as they are called around the guest
# Process 1 of the host becomes this: taps for the guest's two network cards, and the guest. A guest has one processor,
# and stays on one of ours: moving about makes it ten times slower.
BOOT = """\
mkdir /dev/net
mknod /dev/net/tun c 10 200
mount -o remount,size={memory}m /dev/shm
for tap in {management} {data}; do ip tuntap add dev "$tap" mode tap; done
ip address add {here}/30 dev {management}
ip link set dev {management} up
ip link set dev {data} mtu {mtu} up
exec env -i PATH=/usr/bin:/bin HOME=/ TMPDIR=/dev/shm tini -s -g -- taskset --cpu-list {processor} {kernel} </dev/null
"""
# What the guest's process 1 becomes lies in the seed: a tar archive in place of a second disk
UNPACK = "tar -x -f /dev/ubdb -C / && exec /bin/sh {files}/guest.sh {host} {address}"


class UserModeLinux(Backend):
    """Debian's package user-mode-linux."""

    name = "uml"
    own_kernel = True
    title = "guests of User Mode Linux"
    why = "--kernel own, and they booted"
    ram_disk = "1 GiB"
    ssh_address = GUEST

    def prepare(self, chosen: Sequence[str]) -> None:
        """The image of the guests' disk."""
        if platform.machine() != rootfs.UML_MACHINE:
            raise BadInput(
                f"--kernel own: User Mode Linux is for {rootfs.UML_MACHINE}, and this machine is {platform.machine()}: "
                "do without"
            )
        if set(chosen) != {LINUX}:
            raise BadInput("--kernel own is for Linux: emulated Macs need --kernel shared, the default")
        if not Path("/dev/net/tun").exists():
            raise BadInput("--kernel own: there is no /dev/net/tun, which the guests' network needs: `modprobe tun`")
        rootfs.ensure_image()

    def furnish(self, lab: Lab, host: str) -> None:
        """What starts the guest, its disk, and the seed."""
        root = disk.root(lab.name, host)
        folder = root / FILES.lstrip("/")
        folder.mkdir()
        (folder / "boot.sh").write_text(_boot(host))
        with tarfile.open(folder / "seed.tar", "w") as seed:
            (folder / "seed.tar").chmod(0o600)
            seed.add(INIT, f"{FILES}/guest.sh")
            seed.add(state.directory(lab.name) / host / "etc", "etc")
            seed.add(root / "etc" / "shadow", "etc/shadow")
        image = folder / "root.ext4"
        image.touch()
        must(run("mount", "--bind", "-o", "ro", str(rootfs.image_path()), str(image)))

    def boot(self, lab: Lab, host: str) -> str:
        """See :data:`BOOT`."""
        return f"{FILES}/boot.sh"

    def plug_in(self, lab: Lab, host: str, pid: int) -> None:
        """A bridge from the link to the guest's card; the guest gave that its address when it booted."""
        must(inside(pid, "ip", "link", "add", "bridge", "type", "bridge"))
        for port in (DATA_INTERFACE, DATA):
            must(inside(pid, "ip", "link", "set", "dev", port, "mtu", str(LARGEST_MTU), "master", "bridge", "up"))
        must(inside(pid, "ip", "link", "set", "dev", "bridge", "up"))

    def inside(self, lab: Lab, host: str, argv: Sequence[str]) -> list[str]:
        """Over SSH: nothing else leads into another kernel."""
        directory = state.directory(lab.name)
        options = (
            f"IdentityFile={state.identity(lab.name, 'ed25519')}",
            f"UserKnownHostsFile={directory / 'known_hosts'}",
            f"ProxyCommand={sys.executable} -m lab.local.connect {lab.name} {host}",
        )
        terminal = ["-t"] if os.isatty(0) else []
        given = [word for option in options for word in ("-o", option)]
        there = f"root@{state.alias(lab.name, host)}"
        return ["ssh", "-q", "-F", "/dev/null", *given, *terminal, there, "--", shlex.join(argv)]


def _boot(host: str) -> str:
    """The script that starts a guest."""
    processors = sorted(os.sched_getaffinity(0))
    return BOOT.format(
        memory=MEMORY_MIB + 256,
        management=MANAGEMENT,
        data=DATA,
        here=HERE,
        mtu=LARGEST_MTU,
        processor=processors[HOSTS.index(host) % len(processors)],
        kernel=shlex.join(_kernel(host)),
    )


def _kernel(host: str) -> list[str]:
    """The kernel's command line; a word with blanks has quotes of its own, for the kernel takes it apart again.

    Without gro=1 a card drops every frame longer than its MTU, and a tap hands over such frames.
    """
    unpack = UNPACK.format(files=FILES, host=host, address=f"{ADDRESS[host]}/{PREFIX_LENGTH}")
    number = HOSTS.index(host) + 1
    return [
        "linux.uml",
        f"mem={MEMORY_MIB}M",
        "seccomp=auto",  # faster than ptrace
        f"ubd0=/srv/disk/root.cow,{FILES}/root.ext4",
        f"ubd1r={FILES}/seed.tar",
        *("root=/dev/ubda", "rootfstype=ext4", "rw"),
        *("con=null", "con0=null,fd:1"),
        f"vec0:transport=tap,ifname={MANAGEMENT},depth=64,gro=1,mac=02:00:00:00:00:0{number}",
        f"vec1:transport=tap,ifname={DATA},depth=128,gro=1,mtu={LARGEST_MTU},mac=02:00:00:00:01:0{number}",
        *("init=/bin/sh", "--", "-c", f'"{unpack}"'),
    ]
