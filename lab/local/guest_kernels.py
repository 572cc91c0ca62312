"""The kernels of guests with the programs that run them and their disk, built when guests are first needed.

Each kernel is a folder over the root filesystem that holds only what the root filesystem lacks. Its :data:`FILES` has
the image of the guests' disk: the root filesystem with the kernel's modules.
"""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.local import root_image

MACHINE = "x86_64"
FILES = "opt/guest"
DISK, VMLINUZ = f"/{FILES}/root.ext4", f"/{FILES}/vmlinuz"
IMAGE_SIZE = "8G"
# Lets apt take the root filesystem's packages as installed and fetch the rest, which is unpacked and not configured
INSTALLED = """--setup-hook=cp {status} "$1/var/lib/dpkg/status" """
# Runs depmod of the root filesystem, because this machine may have none
DEPMOD = 'mount --bind "$1" "$2/mnt" && chroot "$2" depmod --basedir /mnt --moduledir /usr/lib/modules "$3"'
MAKE_IMAGE = 'mount -t overlay -o "lowerdir=$1:$2" disk /mnt && mke2fs {options} -d /mnt "$3" {size}'
MKE2FS = "-q -F -t ext4 -m 0 -J size=16 -E lazy_itable_init=0"


@dataclass(frozen=True)
class Kernel:
    """A guest's kernel: packages of a Debian suite, the folder of modules in them, and files that guests get, too."""

    name: str
    suite: str
    packages: tuple[str, ...]
    modules: str
    programs: tuple[str, ...] = ()

    def path(self) -> Path:
        """The folder of the kernel, built or not."""
        recipe = (self.suite, *self.packages, self.modules, *self.programs, IMAGE_SIZE, MKE2FS)
        digest = root_image.digest(root_image.path().name, *recipe)
        return root_image.cache_directory() / f"kernel-{self.name}-{digest}"

    def ensure(self) -> Path:
        """Build the folder if it is missing. Raises LabFailure, and BadInput if a program is missing."""
        root_image.ensure()
        title = f"the guests' kernel {self.name} and disk (once, some seconds)"
        return root_image.build_once(self.path(), title, self._build)

    def layers(self) -> tuple[Path, ...]:
        """The folders of the root around a guest, uppermost first."""
        return self.path(), root_image.path()

    def _build(self, folder: Path) -> None:
        root, unpacked, inside = root_image.path(), folder / "unpacked", folder / "inside"
        image = folder / DISK.lstrip("/")
        for directory in (inside / "usr/lib", image.parent):
            directory.mkdir(parents=True)
        unpack(unpacked, self.suite, self.packages)
        modules = (unpacked / self.modules).rename(inside / "usr/lib/modules")
        for version in modules.iterdir():
            make_index_of_modules(inside, version.name)
        for program in self.programs:
            (inside / program).parent.mkdir(exist_ok=True)
            (unpacked / program).rename(inside / program)
        make_image = MAKE_IMAGE.format(options=MKE2FS, size=IMAGE_SIZE)
        root_image.run_in_private_mounts(make_image, str(inside), str(root), str(image))
        for kernel in unpacked.glob("boot/vmlinuz-*"):
            kernel.rename(folder / VMLINUZ.lstrip("/"))
        (unpacked / "usr").rename(folder / "usr")
        for leftover in (unpacked, inside):  # the root filesystem has /etc, /var and the like
            shutil.rmtree(leftover)


def unpack(folder: Path, suite: str, packages: Sequence[str], *options: str) -> None:
    """Unpack packages and their dependencies that the root filesystem lacks, unconfigured. Raises LabFailure."""
    status = shlex.quote(f"{root_image.path()}/var/lib/dpkg/status")
    root_image.install_debian(folder, suite, packages, "--variant=extract", INSTALLED.format(status=status), *options)


def make_index_of_modules(folder: Path, version: str) -> None:
    """Write the index of a kernel's modules below ``folder``. Raises LabFailure."""
    root_image.run_in_private_mounts(DEPMOD, str(folder), str(root_image.path()), version)


# From the Debian suite after the root filesystem's. Kernel 6.12 dies on some processors ("ptrace set fp regs failed"),
# probably because it reserves too little space for AMX; the next one boots there.
UML = Kernel("uml", "forky", ("user-mode-linux",), "usr/lib/uml/modules")
CLOUD = Kernel(
    "cloud",
    root_image.SUITE,
    # the kernel's package depends on an initramfs, which is not used: tiny-initramfs is the smallest. ksmbd-tools
    # conflicts with the root filesystem's samba, but is only unpacked
    ("linux-image-cloud-amd64", "tiny-initramfs", "qemu-system-x86", "qemu-utils", "ksmbd-tools"),
    "usr/lib/modules",
    ("usr/libexec/ksmbd.tools", "usr/sbin/ksmbd.mountd", "usr/sbin/ksmbd.adduser", "usr/sbin/ksmbd.control"),
)
