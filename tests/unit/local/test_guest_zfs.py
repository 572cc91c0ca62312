"""ZFS for guests: what is built, what is kept of it, how it goes wrong, and which guests get it."""

import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.made_up_labs import lab_of

from lab.base.errors import BadInput, LabFailure
from lab.cli import main as cli
from lab.local import backends, guest_kernels, guest_zfs, layered_root, lifecycle, overlay, root_image, state
from lab.local.backends import GUESTS, WITH_ZFS, choose
from lab.local.backends.guest import Guest

VERSION = "6.12.94+deb13-cloud-amd64"
PROGRAMS = ["zpool", "zfs", "zdb", "mount.zfs"]
LIBRARIES = [f"lib{name}.so.1" for name in ("nvpair", "uutil", "zfs", "zfs_core", "zpool")]
KEPT = {
    "usr/lib/modprobe.d/file-share-lab-zfs.conf",
    f"usr/lib/modules/{VERSION}/modules.dep",
    *(f"usr/lib/modules/{VERSION}/extra/{module}.ko" for module in ("spl", "zfs")),
    *(f"usr/sbin/{program}" for program in PROGRAMS),
    *(f"usr/lib/x86_64-linux-gnu/{library}" for library in LIBRARIES),
}


def write(path: Path, content: bytes = b"") -> None:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def image(version: str) -> bytes:
    """The start of a kernel's image, as Documentation/arch/x86/boot.rst has it."""
    header = bytearray(0x400)
    header[0x202:0x206] = b"HdrS"
    header[0x20E:0x210] = (0x1F0).to_bytes(2, "little")
    return bytes(header[: 0x200 + 0x1F0]) + f"{version} (somebody@debian.org) #1 SMP\0".encode()


class Debian:
    """In place of mmdebstrap, compiler and depmod: unpacks and makes empty files of the right names."""

    def __init__(self, cache: Path, monkeypatch: pytest.MonkeyPatch):
        self.cache, self.calls = cache, list[str]()
        self.error: BaseException | None = None
        self.exit_code = 0
        self.files = [f"usr/sbin/{name}" for name in [*PROGRAMS, "gcc"]]
        self.files += [f"usr/lib/x86_64-linux-gnu/{name}" for name in [*LIBRARIES, "libgmp.so.10"]]
        monkeypatch.setattr(root_image, "cache_directory", lambda: cache)
        monkeypatch.setattr(guest_kernels.Kernel, "ensure", lambda kernel: self.boot_image(VERSION))
        monkeypatch.setattr(root_image, "install_debian", self.install)
        monkeypatch.setattr(layered_root, "run", self.compile)
        monkeypatch.setattr(root_image, "run_in_private_mounts", self.depmod)

    def boot_image(self, version: str) -> Path:
        """Put a kernel of this version where the guests' is."""
        write(guest_zfs.KERNEL.path() / "opt/guest/vmlinuz", image(version))
        return guest_zfs.KERNEL.path()

    def install(self, folder: Path, suite: str, packages: Sequence[str], *options: str) -> None:
        self.calls.append(f"{suite} {' '.join(packages)} {options[-1]}")
        folder.mkdir()
        if self.error:
            raise self.error
        for name in [*self.files, f"usr/lib/modules/{VERSION}/kernel/fs/ext4.ko"]:
            write(folder / name)

    def compile(
        self, layers: list[Path], script: str, deadline_s: float, work: str, output: Any
    ) -> subprocess.CompletedProcess[bytes]:
        self.calls.append("compile")
        if deadline_s < 60:
            raise subprocess.TimeoutExpired("sh", deadline_s)
        if not self.exit_code:
            for module in ("spl", "zfs"):
                write(Path(work) / "modules" / f"{module}.ko")
        return subprocess.CompletedProcess("sh", self.exit_code)

    def depmod(self, script: str, folder: str, root: str, version: str) -> None:
        assert Path(folder, f"usr/lib/modules/{version}/extra/zfs.ko").exists()
        write(Path(folder) / f"usr/lib/modules/{version}/modules.dep")

    def cached(self) -> list[str]:
        """The names in the cache of ZFS, finished or not."""
        return sorted(path.name for path in self.cache.glob("zfs-*") if path.suffix != ".lock")


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Debian:
    return Debian(tmp_path / "cache", monkeypatch)


def test_modules_programs_and_the_index_are_kept_and_nothing_else_and_built_once(debian: Debian) -> None:
    folder = guest_zfs.ensure()
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == KEPT
    assert (folder / guest_zfs.OPTIONS_FILE).read_text() == "options zfs zfs_arc_max=536870912\n"
    assert guest_zfs.ensure() == folder
    installed, compiled = debian.calls
    assert f" linux-image-{VERSION} linux-headers-{VERSION} --components=main,contrib" in installed
    assert (compiled, debian.cached()) == ("compile", [folder.name])


def test_each_kernel_and_recipe_has_a_folder(debian: Debian, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = guest_zfs.ensure().name
    assert first.startswith(f"zfs-{VERSION}-")
    debian.boot_image("6.12.95+deb13-cloud-amd64")
    assert guest_zfs.path().name.startswith("zfs-6.12.95+deb13-cloud-amd64-")
    debian.boot_image(VERSION)
    assert guest_zfs.path().name == first
    write(tmp_path / "another.sh", b"make")
    monkeypatch.setattr(guest_zfs, "BUILD", tmp_path / "another.sh")
    assert guest_zfs.path().name not in ("", first)


@pytest.mark.parametrize("content", [b"", b"no kernel", image("6.12\xff"), b"\0" * 0x300])
def test_a_file_that_is_no_kernel_is_named_with_what_helps(debian: Debian, content: bytes) -> None:
    write(guest_zfs.KERNEL.path() / "opt/guest/vmlinuz", content)
    with pytest.raises(LabFailure, match="/opt/guest/vmlinuz is no kernel") as caught:
        guest_zfs.path()
    assert caught.value.remedy == f"remove {guest_zfs.KERNEL.path()}: it is then built anew"


def test_a_build_that_fails_or_does_not_end_leaves_nothing(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> None:
    debian.exit_code = 2
    for problem in ("exit code 2", "no end in 0 minutes"):
        with pytest.raises(LabFailure, match=f"modules of ZFS failed: {problem}"):
            guest_zfs.ensure()
        monkeypatch.setattr(root_image, "BUILD_MINUTES", 0)
    assert debian.cached() == []


def test_an_interrupted_build_leaves_nothing_and_is_done_again(debian: Debian) -> None:
    debian.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        guest_zfs.ensure()
    assert debian.cached() == []
    debian.error = None
    write(guest_zfs.path().with_name(f"{guest_zfs.path().name}.part") / "work/half-made")  # of one that was killed
    assert debian.cached() != []
    guest_zfs.ensure()
    assert debian.cached() == [guest_zfs.path().name]


def test_what_debian_has_no_more_is_named_with_what_helps(debian: Debian) -> None:
    debian.files.remove("usr/sbin/zdb")
    with pytest.raises(LabFailure, match="have no usr/sbin/zdb"):
        guest_zfs.ensure()
    assert debian.cached() == []
    debian.error = LabFailure("building x failed: mmdebstrap: exit code 25", "see its own message above")
    with pytest.raises(LabFailure, match="--zfs: building x failed: mmdebstrap: exit code 25") as caught:
        guest_zfs.ensure()
    assert f"cannot locate linux-headers-{VERSION}, Debian has a newer kernel" in caught.value.remedy
    assert (f"remove {guest_zfs.KERNEL.path()}" in caught.value.remedy, debian.cached()) == (True, [])


@pytest.mark.parametrize("name", sorted(WITH_ZFS))
def test_the_seed_has_files_of_zfs(debian: Debian, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "RUN", tmp_path)
    seed = overlay.root("mine", "server") / "opt/guest/seed.tar"

    def furnish_any(*_: object) -> None:
        write(seed.with_name("etc") / "hosts")
        with tarfile.open(seed, "w") as archive:
            archive.add(seed.with_name("etc"), "etc")

    guest_zfs.ensure()
    monkeypatch.setattr(Guest, "furnish", furnish_any)
    WITH_ZFS[name].furnish(lab_of(), "server")
    with tarfile.open(seed) as archive:
        assert set(archive.getnames()) == {"etc", "etc/hosts", *KEPT}


def test_the_first_backend_with_zfs_that_boots_is_taken(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_check_guests", lambda _: None)
    monkeypatch.setattr(Guest, "prepare", lambda _: "")
    for name, problem in {"kvm": "there is no /dev/kvm", "uml": "", "tcg": ""}.items():
        monkeypatch.setattr(GUESTS[name], "prepare", lambda problem=problem: problem)
    backend, why = choose(True, "", ["linux"], zfs=True)
    assert (backends.find("tcg-zfs"), why) == (backend, "the first that boots here; kvm: there is no /dev/kvm")
    assert (backend.name, backend.title) == ("tcg-zfs", "guests of qemu without virtualization (TCG), with ZFS")
    assert debian.cached() == [guest_zfs.path().name]
    debian.exit_code = 2
    shutil.rmtree(guest_zfs.path())
    with pytest.raises(LabFailure, match="modules of ZFS failed"):  # of no use to try it for another backend
        choose(True, "tcg", ["linux"], zfs=True)


def test_zfs_is_for_guests_and_not_for_those_of_user_mode_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_check_guests", lambda _: None)
    with pytest.raises(BadInput, match="--zfs is for guests") as caught:
        choose(False, "", ["linux"], zfs=True)
    assert caught.value.remedy == "give --kernel own too"
    with pytest.raises(BadInput, match="--zfs: guests of uml have no ZFS") as caught:
        choose(True, "uml", ["linux"], zfs=True)
    assert caught.value.remedy == "give --backend kvm or tcg, or none"


@pytest.mark.parametrize("option", [(), ("--zfs",)])
def test_the_option_of_the_command_asks_for_it(option: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "up", up := Mock(side_effect=BadInput("enough")))
    assert cli.main(["local", "up", "--kernel", "own", *option]) == 2
    assert [call.kwargs["zfs"] for call in up.call_args_list] == [bool(option)]
