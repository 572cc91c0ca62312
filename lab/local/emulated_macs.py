"""Access to the package ``emulated_mac``, which is beside the lab in a checkout and not in its wheel."""

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from lab.base.errors import BadInput

CHECKOUT = Path(__file__).resolve().parents[2]
HOW_TO_ADD = (
    "they are a package of their own: in a checkout of the lab's source, `pip install ./emulated_mac` "
    "(where pipx has installed the lab: `pipx inject file-share-lab ./emulated_mac`)"
)


def folder() -> Path:
    """The folder of the package, which can then be imported. Raises BadInput if it is not installed."""
    origin = _origin()
    if origin is None and (CHECKOUT / "emulated_mac" / "pyproject.toml").exists():
        sys.path.append(str(CHECKOUT))
        origin = _origin()
    if origin is None:
        raise BadInput("emulated Macs are not installed", HOW_TO_ADD)
    return Path(origin).parent


def _origin() -> str | None:
    spec = find_spec("emulated_mac")
    return spec.origin if spec else None


def faults() -> Mapping[str, str]:
    """The faults that an emulated Mac can have, by name; none if the package is not installed."""
    try:
        folder()
    except BadInput:
        return {}
    from emulated_mac.faults import FAULTS

    return FAULTS


def faults_file() -> str:
    """The file of an emulated Mac that lists its faults. Raises BadInput like :func:`folder`."""
    folder()
    from emulated_mac.faults import FILE

    return FILE


def versions() -> Sequence[str]:
    """The versions of macOS that can be emulated. Raises BadInput like :func:`folder`."""
    folder()
    from emulated_mac.profiles import PROFILES

    return list(PROFILES)


def whole_version(version: str) -> str:
    """``15.5`` for ``15``; empty for a version that cannot be emulated. Raises BadInput like :func:`folder`."""
    folder()
    from emulated_mac import profiles

    profile = profiles.find(version)
    return profile.version if profile else ""


def old_algorithms(version: str) -> dict[str, str]:
    """Options that limit sshd to the algorithms of this version. Raises BadInput like :func:`folder`."""
    folder()
    from emulated_mac import openssh, profiles

    return openssh.algorithms(profiles.PROFILES[version].number)
