"""The ways to make a host: ``namespaces`` on this machine's kernel, or guests with kernels of their own."""

import os
from collections.abc import Collection
from pathlib import Path

from lab.base.errors import BadInput, LabFailure
from lab.local import guest_kernels
from lab.local.backends.base import Backend
from lab.local.backends.guest import LEAST_MIB
from lab.local.backends.namespaces import Namespaces
from lab.local.backends.qemu import Kvm, KvmWithZfs, Tcg, TcgWithZfs
from lab.local.backends.uml import UserModeLinux
from lab.local.names import GUEST_BACKENDS
from lab.local.platforms import LINUX

MEMORY = Path("/proc/meminfo")
_NAMESPACES = Namespaces()
WITH_ZFS: dict[str, Backend] = {"kvm": KvmWithZfs(), "tcg": TcgWithZfs()}  # by the name of the backend without
_BACKENDS = (_NAMESPACES, Kvm(), UserModeLinux(), Tcg(), *WITH_ZFS.values())
_BY_NAME: dict[str, Backend] = {backend.name: backend for backend in _BACKENDS}
GUESTS = {name: _BY_NAME[name] for name in GUEST_BACKENDS}


def find(name: str) -> Backend:
    """The backend of this name. Raises BadInput for a backend that this version lacks."""
    if name not in _BY_NAME:
        problem = f"a local lab is up on the backend {name!r:.50}, unknown here"
        raise BadInput(problem, "use the version of the lab that brought it up")
    return _BY_NAME[name]


def choose(own_kernel: bool, name: str, host_platforms: Collection[str], zfs: bool = False) -> tuple[Backend, str]:
    """The backend for hosts of these platforms, and the reason for it; everything that it needs is built.

    With ``own_kernel`` it has this name, or is the first whose guests boot here; with ``zfs`` its guests have ZFS.
    Raises BadInput if the arguments or this machine do not allow it, LabFailure if no guest boots.
    """
    if not own_kernel:
        if name or zfs:
            raise BadInput(f"{f'--backend {name}' if name else '--zfs'} is for guests", "give --kernel own too")
        _NAMESPACES.prepare()
        return _NAMESPACES, "the default"
    _check_guests(host_platforms)
    if zfs and name and name not in WITH_ZFS:
        raise BadInput(f"--zfs: guests of {name} have no ZFS", f"give --backend {' or '.join(WITH_ZFS)}, or none")
    problems: list[str] = []
    for candidate in [name] if name else WITH_ZFS if zfs else GUESTS:
        try:
            problem = GUESTS[candidate].prepare()
        except LabFailure as error:  # something cannot be built
            problem = str(error)
        if not problem:
            why = "; ".join([f"--backend {name}" if name else "the first that boots here", *problems])
            if zfs:
                WITH_ZFS[candidate].prepare()
            return (WITH_ZFS if zfs else GUESTS)[candidate], why
        problems.append(f"{candidate}: {problem}")
    answers = f"{guest_kernels.UML.path().parent}/kernel-*.json"
    remedy = f"guests are tried once a boot of this machine; to try again remove {answers}"
    raise LabFailure(f"--kernel own: no guest boots here. {'; '.join(problems)}", remedy)


def _check_guests(host_platforms: Collection[str]) -> None:
    if os.uname().machine != guest_kernels.MACHINE:
        problem = f"--kernel own is for {guest_kernels.MACHINE}, and this machine is {os.uname().machine}"
        raise BadInput(problem, "leave it out")
    if set(host_platforms) != {LINUX}:
        raise BadInput("--kernel own is for Linux, not for emulated Macs", "give --kernel shared, the default")
    if not Path("/dev/net/tun").exists():
        raise BadInput("--kernel own: there is no /dev/net/tun, which the guests' network needs", "`modprobe tun`")
    _check_memory(len(host_platforms))


def _check_memory(guests: int) -> None:
    """Raise BadInput if the memory is too small even for idle guests: the kernel would kill one of them."""
    fields = dict(line.split(":") for line in MEMORY.read_text().splitlines())
    needed_mib, free_mib = guests * LEAST_MIB, int(fields["MemAvailable"].split()[0]) // 1024
    if needed_mib > free_mib:
        problem = f"--kernel own: {guests} guests take at least {needed_mib} MiB, and {free_mib} MiB are free"
        raise BadInput(problem, "give fewer --clients, or end what takes the memory")
