"""Hosts with kernels of their own: what all guests have in common.

A guest runs in the namespaces of its host, and ends with them. Its two network cards are taps there: a bridge connects
one to the data link, and the other one is for management. All guests share one image as their disk, which is only read;
the blocks that a guest writes go to a file of its own.
"""

import os
import shlex
import shutil
import tarfile
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from lab.base.own_python import PYTHON
from lab.local import layered_root, overlay, state
from lab.local.backends.base import Backend
from lab.local.guest_kernels import FILES, Kernel
from lab.local.names import ALL_HOSTS
from lab.local.state import ADDRESS, DATA_INTERFACE, PREFIX_LENGTH, Lab
from lab.local.subprocesses import check, run_inside

INIT, TAPS = Path(__file__).with_name("guest.sh"), Path(__file__).with_name("guest_taps.sh")
SEED = f"/{FILES}/seed.tar"  # keys, accounts and guest.sh, as a second disk
MEMORY_MIB = 3072  # a guest takes a page when it uses it
LEAST_MIB = 256  # an idle guest took some 100 under User Mode Linux, 340 under qemu
LARGEST_MTU = 9000
# The management link has the same addresses in every host; guest.sh has the second one, too
NAMESPACE_ADDRESS, GUEST_ADDRESS = "192.0.2.1", "192.0.2.2"
# Process 1 of the host makes the taps and becomes the program that runs the guest
BOOT = """\
/bin/sh /{files}/guest_taps.sh {address}/30 {mtu}
{setup}
exec env -i PATH=/usr/bin:/bin HOME=/ TMPDIR=/dev/shm tini -s -g -- {command} </dev/null
"""
# Process 1 of the guest unpacks the seed and becomes guest.sh, which is in it. Under qemu the seed needs the module
UNPACK = "modprobe -q virtio_blk; tar -x -f {seed} -C / && exec /bin/sh /{files}/guest.sh {address}"


class Guest(Backend):
    """A host with a kernel of its own. The guest has two disks: its own, and the seed."""

    own_kernel = True
    ram_disk = "1 GiB"
    ssh_address = GUEST_ADDRESS
    kernel: ClassVar[Kernel]
    seed: ClassVar[str]  # the device that it is in the guest
    probe_s: ClassVar[float]  # the longest that a usable guest takes to boot

    @abstractmethod
    def setup(self, own_disk: str, number: int) -> str:
        """Shell lines that run before the guest of this number; ``own_disk`` is its disk's file without its ending."""

    @abstractmethod
    def command(self, own_disk: str, script: str, cards: Sequence[str] = ()) -> list[str]:
        """The command of a guest whose process 1 is a shell with this script; standard output is its console."""

    @abstractmethod
    def cards(self, number: int) -> list[str]:
        """The words for the seed and both network cards of the guest of this number."""

    def prepare(self) -> str:
        """Build kernel and disk; then, once in a boot of this machine, try to boot a guest."""
        answer = self.kernel.ensure().with_suffix(f".{self.name}.json")
        own_disk = "/dev/shm/root"  # noqa: S108 – in a mount namespace of its own
        start = f"{self.setup(own_disk, 0)}\nexec {shlex.join(self.command(own_disk, layered_root.BOOT_TEST))}"
        return layered_root.find_problem(answer, self.layers(), start, self.probe_s)

    def layers(self) -> Sequence[Path]:
        """The root filesystem, and the kernel over it."""
        return self.kernel.layers()

    def furnish(self, lab: Lab, host: str) -> None:
        """Write the scripts that start the guest, and its seed."""
        root = overlay.root(lab.name, host)
        own_disk, number = "/srv/disk/root", ALL_HOSTS.index(host) + 1
        unpack = UNPACK.format(seed=self.seed, files=FILES, address=f"{ADDRESS[host]}/{PREFIX_LENGTH}")
        command = shlex.join(self.command(own_disk, unpack, self.cards(number)))
        setup = self.setup(own_disk, number)
        boot = BOOT.format(files=FILES, address=NAMESPACE_ADDRESS, mtu=LARGEST_MTU, setup=setup, command=command)
        (root / FILES / "boot.sh").write_text(boot)
        shutil.copy(TAPS, root / FILES)
        with tarfile.open(root / SEED.lstrip("/"), "w") as seed:
            (root / SEED.lstrip("/")).chmod(0o600)
            seed.add(INIT, f"{FILES}/guest.sh")
            seed.add(state.directory(lab.name) / host / "etc", "etc")
            seed.add(root / "etc" / "shadow", "etc/shadow")

    def boot(self, lab: Lab, host: str) -> str:
        """See :data:`BOOT`."""
        return f"/{FILES}/boot.sh"

    def plug_in(self, lab: Lab, host: str, pid: int) -> None:
        """Connect the link to the guest's card by a bridge; the card got its address when the guest booted."""
        check(run_inside(pid, "ip", "link", "add", "bridge", "type", "bridge"))
        for port in (DATA_INTERFACE, "data"):
            check(run_inside(pid, "ip", "link", "set", "dev", port, "mtu", str(LARGEST_MTU), "master", "bridge", "up"))
        check(run_inside(pid, "ip", "link", "set", "dev", "bridge", "up"))

    def inside_command(self, lab: Lab, host: str, argv: Sequence[str]) -> list[str]:
        """A command over SSH, because nothing else leads into another kernel."""
        options = [
            *("-o", f"IdentityFile={state.identity(lab.name, 'ed25519')}"),
            *("-o", f"UserKnownHostsFile={state.directory(lab.name) / 'known_hosts'}"),
            *("-o", f"ProxyCommand={' '.join(PYTHON)} -m lab.local.proxy_command {lab.name} {host}"),
            *(["-t"] if os.isatty(0) else []),
        ]
        return ["ssh", "-q", "-F", "/dev/null", *options, f"root@{state.alias(lab.name, host)}", "--", shlex.join(argv)]


def mac_address(card: int, number: int) -> str:
    """The address of a guest's card. guest.sh tells the cards apart by it: 0 is for management, 1 for data."""
    return f"02:00:00:00:{card:02}:{number:02}"
