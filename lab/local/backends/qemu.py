"""Guests of qemu with Debian's kernel for clouds, with virtualization (KVM) or without (TCG)."""

import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from lab.local import guest_kernels, guest_zfs, overlay
from lab.local.backends.guest import LARGEST_MTU, MEMORY_MIB, SEED, Guest, mac_address
from lab.local.guest_kernels import DISK, VMLINUZ
from lab.local.state import Lab

# That kernel has ext4 and NVMe built in, so it needs no initramfs. A second NVMe disk might be found before the first.
KERNEL = "console=ttyS0 root=/dev/nvme0n1 rootfstype=ext4 rw panic=-1 devtmpfs.mount=1 mitigations=off"


class Qemu(Guest):
    """One processor, virtio devices, and a serial line as the console."""

    kernel = guest_kernels.CLOUD
    seed = "/dev/vda"
    processor: ClassVar[tuple[str, ...]]

    def setup(self, own_disk: str, number: int) -> str:
        """Create the file that the guest writes; a reboot keeps it."""
        return f"[ -e {own_disk}.qcow2 ] || qemu-img create -q -f qcow2 -b {DISK} -F raw {own_disk}.qcow2"

    def command(self, own_disk: str, script: str, cards: Sequence[str] = ()) -> list[str]:
        """The command of qemu, which ends with the guest."""
        return [
            "qemu-system-x86_64",
            *("-machine", "q35", *self.processor, "-m", str(MEMORY_MIB)),
            *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"),
            *("-kernel", VMLINUZ, "-append", f'{KERNEL} init=/bin/sh -- -c "{script}"'),
            *("-drive", f"if=none,id=root,file={own_disk}.qcow2", "-device", "nvme,drive=root,serial=root"),
            *cards,
        ]

    def cards(self, number: int) -> list[str]:
        """The seed and both cards; the data card has the largest MTU, because it drops longer frames."""
        return [
            *("-drive", f"if=virtio,file={SEED},format=raw,read-only=on"),
            *_card("management", mac_address(0, number)),
            *_card("data", f"{mac_address(1, number)},host_mtu={LARGEST_MTU}"),
        ]


class Kvm(Qemu):
    """On the processor itself: the fastest guests, and the closest to a real machine."""

    name = "kvm"
    title = "guests of qemu with KVM"
    processor = ("-accel", "kvm", "-cpu", "host")
    probe_s = 20.0

    def setup(self, own_disk: str, number: int) -> str:
        """Also make the device of KVM."""
        return f"mknod /dev/kvm c 10 232\n{super().setup(own_disk, number)}"

    def prepare(self) -> str:
        """Build and try a guest if there is a /dev/kvm."""
        if not Path("/dev/kvm").exists():
            return "there is no /dev/kvm"
        problem = super().prepare()
        return problem and f"/dev/kvm is there, but {problem}"


class Tcg(Qemu):
    """On a processor in software: runs everywhere, and is slow."""

    name = "tcg"
    title = "guests of qemu without virtualization (TCG)"
    # the default processor is twice as slow to emulate, and cx16 gives wrong results under load
    processor = ("-accel", "tcg,thread=multi", "-cpu", "qemu64,-cx16")
    probe_s = 120.0


class WithZfs(Qemu):
    """The same guests with ZFS, which is in their seed."""

    without_zfs: ClassVar[Qemu]

    def prepare(self) -> str:
        """Try the guests without ZFS, which they can boot without; then build ZFS if it is missing."""
        problem = self.without_zfs.prepare()
        if not problem:
            guest_zfs.ensure()
        return problem

    def furnish(self, lab: Lab, host: str) -> None:
        """Also put the files of ZFS into the seed, without their folders, which the guest has."""
        super().furnish(lab, host)
        folder = guest_zfs.path()
        with tarfile.open(overlay.root(lab.name, host) / SEED.lstrip("/"), "a") as seed:
            for path in sorted(folder.rglob("*")):
                if not path.is_dir():
                    seed.add(path, str(path.relative_to(folder)))


class KvmWithZfs(WithZfs, Kvm):
    """On the processor itself."""

    name, title = "kvm-zfs", f"{Kvm.title}, with ZFS"
    without_zfs = Kvm()


class TcgWithZfs(WithZfs, Tcg):
    """On a processor in software."""

    name, title = "tcg-zfs", f"{Tcg.title}, with ZFS"
    without_zfs = Tcg()


def _card(tap: str, options: str) -> list[str]:
    backend = f"tap,id={tap},ifname={tap},script=no,downscript=no"
    return ["-netdev", backend, "-device", f"virtio-net-pci,netdev={tap},romfile=,mac={options}"]
