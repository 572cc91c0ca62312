"""The ways to make a host: ``namespaces`` on this machine's kernel, or guests with kernels of their own."""

from __future__ import annotations

import platform
from collections.abc import Collection
from pathlib import Path

from lab.base.errors import BadInput, LabFailure
from lab.local import guest_kernels
from lab.local.backends.base import Backend
from lab.local.backends.namespaces import Namespaces
from lab.local.backends.qemu import Kvm, Tcg
from lab.local.backends.uml import UserModeLinux
from lab.local.platforms import LINUX

_NAMESPACES = Namespaces()
GUESTS: dict[str, Backend] = {backend.name: backend for backend in (Kvm(), UserModeLinux(), Tcg())}  # the best first
_BY_NAME = {_NAMESPACES.name: _NAMESPACES, **GUESTS}


def find(name: str) -> Backend:
    """The backend of this name. Raises BadInput for one that this version does not have."""
    if name not in _BY_NAME:
        raise BadInput(f"a local lab is up on {name!r:.50}, unknown here: the version that brought it up can use it")
    return _BY_NAME[name]


def choose(own_kernel: bool, wanted: str, chosen: Collection[str]) -> tuple[Backend, str]:
    """The backend for hosts of the ``chosen`` platforms, with all built that it needs, and why this one.

    With ``own_kernel`` that is ``wanted``, or, where this is empty, the first whose guests boot here.
    Raises BadInput where the arguments, or this machine, do not go with it, LabFailure where no guest boots.
    """
    if not own_kernel:
        if wanted:
            raise BadInput(f"--backend {wanted} is for guests: give --kernel own too")
        _NAMESPACES.prepare()
        return _NAMESPACES, "the default"
    _check_guests(chosen)
    problems: list[str] = []
    for backend in [GUESTS[wanted]] if wanted else GUESTS.values():
        problem = _problem(backend)
        if not problem:
            return backend, "; ".join([f"--backend {wanted}" if wanted else "the first that boots here", *problems])
        problems.append(f"{backend.name}: {problem}")
    raise LabFailure(
        f"--kernel own: no guest boots here (asked once a boot: remove {guest_kernels.UML.path().parent}/kernel-*.json "
        f"to ask again). {'; '.join(problems)}"
    )


def _check_guests(chosen: Collection[str]) -> None:
    if platform.machine() != guest_kernels.MACHINE:
        raise BadInput(
            f"--kernel own is for {guest_kernels.MACHINE}, and this machine is {platform.machine()}: do without"
        )
    if set(chosen) != {LINUX}:
        raise BadInput("--kernel own is for Linux: emulated Macs need --kernel shared, the default")
    if not Path("/dev/net/tun").exists():
        raise BadInput("--kernel own: there is no /dev/net/tun, which the guests' network needs: `modprobe tun`")


def _problem(backend: Backend) -> str:
    """Why it is not for this machine; empty where it is. What cannot be built is a reason too: the next may do."""
    try:
        return backend.prepare()
    except LabFailure as error:
        return str(error)
