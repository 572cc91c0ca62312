"""ZFS for guests of qemu: its modules, built once for their kernel, and its programs.

They are a folder that goes into the seed of a guest, because other guests do not need them on their disk.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from lab.base.errors import LabFailure
from lab.local import guest_kernels, layered_root, root_image

KERNEL = guest_kernels.CLOUD
COMPONENTS = "main,contrib"  # Debian has ZFS in contrib, for its licence
PACKAGES = ("zfs-dkms", "zfsutils-linux", "gcc", "make", "libc6-dev", "tiny-initramfs")
# depmod needs the kernel itself to make one index of all modules
OF_KERNEL = ("linux-image-{version}", "linux-headers-{version}")
BUILD = Path(__file__).with_name("guest_zfs.sh")
MODULES = "usr/lib/modules/{version}"
FILES = (
    *(f"usr/sbin/{program}" for program in ("zpool", "zfs", "zdb", "mount.zfs")),
    *(f"usr/lib/*/lib{library}.so.*" for library in ("nvpair", "uutil", "zfs", "zfs_core", "zpool")),
    f"{MODULES}/modules.*",
    f"{MODULES}/extra/*.ko",
)
# By default ZFS would cache files in up to two thirds of a guest's 3 GiB, which also hold a RAM disk of 1 GiB
OPTIONS = "options zfs zfs_arc_max=536870912\n"
OPTIONS_FILE = "usr/lib/modprobe.d/file-share-lab-zfs.conf"


def path() -> Path:
    """The folder of ZFS, built or not. Its name needs the version of the built kernel. Raises LabFailure."""
    version = kernel_version()
    recipe = (root_image.path().name, COMPONENTS, *PACKAGES, *OF_KERNEL, BUILD.read_text(), *FILES, OPTIONS)
    return root_image.cache_directory() / f"zfs-{version}-{root_image.digest(version, *recipe)}"


def ensure() -> Path:
    """Build the folder if it is missing. Raises LabFailure, and BadInput if a program is missing."""
    KERNEL.ensure()
    return root_image.build_once(path(), "ZFS for guests (once, five to fifteen minutes)", _build)


def kernel_version() -> str:
    """The version in the header of the guests' kernel (Documentation/arch/x86/boot.rst). Raises LabFailure."""
    vmlinuz = KERNEL.path() / guest_kernels.VMLINUZ.lstrip("/")
    with vmlinuz.open("rb") as file:
        header = file.read(1 << 16)
    start = 0x200 + int.from_bytes(header[0x20E:0x210], "little")
    version = header[start:].partition(b" ")[0]
    if header[0x202:0x206] != b"HdrS" or not version.isascii():
        raise LabFailure(f"{vmlinuz} is no kernel", f"remove {KERNEL.path()}: it is then built anew")
    return version.decode()


def _build(folder: Path) -> None:
    version = kernel_version()
    unpacked, work = folder / "unpacked", folder / "work"
    work.mkdir(parents=True)
    _unpack(unpacked, version)
    _build_modules([unpacked, root_image.path()], work)
    (work / "modules").rename(unpacked / MODULES.format(version=version) / "extra")
    guest_kernels.make_index_of_modules(unpacked, version)
    for pattern in FILES:
        _move(unpacked, pattern.format(version=version), folder)
    options = folder / OPTIONS_FILE
    options.parent.mkdir()
    options.write_text(OPTIONS)
    for leftover in (unpacked, work):
        shutil.rmtree(leftover)


def _unpack(folder: Path, version: str) -> None:
    """Unpack what the build needs and the root filesystem lacks: sources, compiler, kernel, headers, programs."""
    packages = (*PACKAGES, *(package.format(version=version) for package in OF_KERNEL))
    try:
        guest_kernels.unpack(folder, root_image.SUITE, packages, f"--components={COMPONENTS}")
    except LabFailure as error:
        raise LabFailure(
            f"--zfs: {error.message}",
            f"see its own message above. If it cannot locate linux-headers-{version}, Debian has a newer kernel than "
            f"the guests: remove {KERNEL.path()}, and it is built anew",
        ) from error


def _build_modules(layers: list[Path], work: Path) -> None:
    deadline_s = root_image.BUILD_MINUTES * 60
    try:
        # the terminal shows the progress, because minutes of silence look like a hang
        exit_code = layered_root.run(layers, BUILD.read_text(), deadline_s, str(work), sys.stderr).returncode
        problem = f"exit code {exit_code}" if exit_code else ""
    except subprocess.TimeoutExpired:
        problem = f"no end in {root_image.BUILD_MINUTES} minutes"
    if problem:
        raise LabFailure(f"--zfs: building the modules of ZFS failed: {problem}", "see its own message above")


def _move(unpacked: Path, pattern: str, folder: Path) -> None:
    """Move what matches into the same place below another folder. Raises LabFailure if nothing matches."""
    paths = list(unpacked.glob(pattern))
    if not paths:
        raise LabFailure(f"--zfs: Debian's packages and the modules built have no {pattern}")
    for source in paths:
        target = folder / source.relative_to(unpacked)
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
