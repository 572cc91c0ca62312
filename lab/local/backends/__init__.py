"""The ways to make a host: ``namespaces`` on this machine's kernel, or guests with kernels of their own."""

from __future__ import annotations

from lab.errors import BadInput
from lab.local.backends.base import Backend
from lab.local.backends.namespaces import Namespaces
from lab.local.backends.uml import UserModeLinux

_ALL: tuple[Backend, ...] = (Namespaces(), UserModeLinux())
_BY_NAME = {backend.name: backend for backend in _ALL}
BY_KERNEL = {backend.own_kernel: backend for backend in _ALL}


def find(name: str) -> Backend:
    """The backend of this name. Raises BadInput for one that this version does not have."""
    if name not in _BY_NAME:
        raise BadInput(f"a local lab is up on {name!r:.50}, unknown here: the version that brought it up can use it")
    return _BY_NAME[name]
