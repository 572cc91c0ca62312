"""Hosts with kernels of their own: what all guests have in common, whatever runs them.

A guest runs in the namespaces of its host, and ends with them. Its two network cards are taps there: a bridge leads
from one to the data link, the other ends in the namespace, for management. Its disk is one image for all guests, never
written, with the blocks that a guest writes in a file of its own.
"""

from __future__ import annotations

import os
import shlex
import sys
import tarfile
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from lab.local import backend_probe, overlay, state
from lab.local.backends.base import Backend
from lab.local.guest_kernels import FILES, Kernel
from lab.local.state import ADDRESS, DATA_INTERFACE, HOSTS, PREFIX_LENGTH, Lab
from lab.local.subprocesses import inside, must

INIT = Path(__file__).with_name("guest.sh")
SEED = f"/{FILES}/seed.tar"  # keys, accounts and guest.sh, as a second disk
MEMORY_MIB = 3072  # taken as it is touched
LARGEST_MTU = 9000
HERE, GUEST = "192.0.2.1", "192.0.2.2"  # the management link, alike in every host: it ends in the namespace
# Process 1 of the host becomes this: the taps, and what runs the guest
BOOT = """\
mkdir /dev/net
mknod /dev/net/tun c 10 200
for tap in management data; do ip tuntap add dev "$tap" mode tap; done
ip address add {here}/30 dev management
ip link set dev management up
ip link set dev data mtu {mtu} up
{setup}
exec env -i PATH=/usr/bin:/bin HOME=/ TMPDIR=/dev/shm tini -s -g -- {command} </dev/null
"""
# The guest's own process 1: unpacks the seed, and goes on with what was in it. The module is for the seed under qemu
UNPACK = "modprobe -q virtio_blk; tar -x -f {seed} -C / && exec /bin/sh /{files}/guest.sh {host} {address}"


class Guest(Backend):
    """A host with a kernel of its own. What runs it gives the guest two disks: its own, and the seed."""

    own_kernel = True
    ram_disk = "1 GiB"
    ssh_address = GUEST
    kernel: ClassVar[Kernel]
    seed: ClassVar[str]  # as the guest calls it
    probe_s: ClassVar[float]  # how long a guest may take to boot, to be of use

    @abstractmethod
    def setup(self, own_disk: str, number: int) -> str:
        """Shell lines that run before the guest of this number, in the root around it.

        ``own_disk`` is the file that it writes, without its ending.
        """

    @abstractmethod
    def command(self, own_disk: str, script: str, cards: Sequence[str] = ()) -> list[str]:
        """What runs a guest whose process 1 is a shell with this script; its console is standard output."""

    @abstractmethod
    def cards(self, number: int) -> list[str]:
        """The words that give the guest of this number its seed and both network cards."""

    def prepare(self) -> str:
        """The kernel and the disk; then a guest without any of the rest is booted, once in a boot of this machine."""
        answer = self.kernel.ensure().with_suffix(f".{self.name}.json")
        own_disk = "/dev/shm/root"
        start = f"{self.setup(own_disk, 0)}\nexec {shlex.join(self.command(own_disk, backend_probe.SCRIPT))}"
        return backend_probe.problem(answer, self.layers(), start, self.probe_s)

    def layers(self) -> Sequence[Path]:
        """The root filesystem, and the kernel over it."""
        return self.kernel.layers()

    def furnish(self, lab: Lab, host: str) -> None:
        """What starts the guest, and the seed."""
        root = overlay.root(lab.name, host)
        (root / FILES / "boot.sh").write_text(self._boot(host))
        with tarfile.open(root / SEED.lstrip("/"), "w") as seed:
            (root / SEED.lstrip("/")).chmod(0o600)
            seed.add(INIT, f"{FILES}/guest.sh")
            seed.add(state.directory(lab.name) / host / "etc", "etc")
            seed.add(root / "etc" / "shadow", "etc/shadow")

    def _boot(self, host: str) -> str:
        """The script that starts a guest."""
        address = f"{ADDRESS[host]}/{PREFIX_LENGTH}"
        unpack = UNPACK.format(seed=self.seed, files=FILES, host=host, address=address)
        own_disk = "/srv/disk/root"
        number = HOSTS.index(host) + 1
        command = self.command(own_disk, unpack, self.cards(number))
        setup = self.setup(own_disk, number)
        return BOOT.format(here=HERE, mtu=LARGEST_MTU, setup=setup, command=shlex.join(command))

    def boot(self, lab: Lab, host: str) -> str:
        """See :data:`BOOT`."""
        return f"/{FILES}/boot.sh"

    def plug_in(self, lab: Lab, host: str, pid: int) -> None:
        """A bridge from the link to the guest's card; the guest gave that its address when it booted."""
        must(inside(pid, "ip", "link", "add", "bridge", "type", "bridge"))
        for port in (DATA_INTERFACE, "data"):
            must(inside(pid, "ip", "link", "set", "dev", port, "mtu", str(LARGEST_MTU), "master", "bridge", "up"))
        must(inside(pid, "ip", "link", "set", "dev", "bridge", "up"))

    def inside(self, lab: Lab, host: str, argv: Sequence[str]) -> list[str]:
        """Over SSH: nothing else leads into another kernel."""
        directory = state.directory(lab.name)
        options = (
            f"IdentityFile={state.identity(lab.name, 'ed25519')}",
            f"UserKnownHostsFile={directory / 'known_hosts'}",
            f"ProxyCommand={sys.executable} -m lab.local.proxy_command {lab.name} {host}",
        )
        terminal = ["-t"] if os.isatty(0) else []
        given = [word for option in options for word in ("-o", option)]
        there = f"root@{state.alias(lab.name, host)}"
        return ["ssh", "-q", "-F", "/dev/null", *given, *terminal, there, "--", shlex.join(argv)]


def mac(card: int, number: int) -> str:
    """The address of a guest's card: 0 is for management, 1 for data, and guest.sh knows them by it."""
    return f"02:00:00:00:{card:02}:{number:02}"
