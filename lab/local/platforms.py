"""The platforms of a local lab's hosts: Linux, or a Mac emulated by a package that only a checkout of the lab has."""

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.groups import grouped
from lab.local.names import split_word

LINUX, MAC = "linux", "macos@"
CHECKOUT = Path(__file__).resolve().parents[2]
HOW_TO_ADD = (
    "they are a package of their own: in a checkout of the lab's source, `pip install ./emulated_mac` "
    "(where pipx has installed the lab: `pipx inject file-share-lab ./emulated_mac`)"
)


def emulated_mac_folder() -> Path:
    """The folder of the package, which can then be imported. Raises BadInput if it is not installed."""
    spec = find_spec("emulated_mac")
    if not (spec and spec.origin) and (CHECKOUT / "emulated_mac" / "pyproject.toml").exists():
        sys.path.append(str(CHECKOUT))
        spec = find_spec("emulated_mac")
    if not (spec and spec.origin):
        raise BadInput("emulated Macs are not installed", HOW_TO_ADD)
    return Path(spec.origin).parent


def emulated_mac_faults() -> Mapping[str, str]:
    """The faults that an emulated Mac can have, by name; none if the package is not installed."""
    try:
        emulated_mac_folder()
    except BadInput:
        return {}
    from emulated_mac.faults import FAULTS

    return FAULTS


def faults_file() -> str:
    """The file of an emulated Mac that lists its faults. Raises BadInput if they are not installed."""
    emulated_mac_folder()
    from emulated_mac.faults import FILE

    return FILE


def parse(words: Sequence[str], hosts: Sequence[str]) -> dict[str, str]:
    """The platform of each host, ``linux`` or ``macos@VERSION`` with the whole version. Raises BadInput."""
    host_platforms = dict.fromkeys(hosts, LINUX)
    for word in words:
        host, platform = split_word("--platform", word, hosts)
        host_platforms |= dict.fromkeys([host] if host else hosts, _complete(platform))
    return host_platforms


def _complete(platform: str) -> str:
    """A platform with the whole version of macOS: ``macos@15.5`` for ``macos@15``. Raises BadInput."""
    if platform == LINUX:
        return LINUX
    emulated_mac_folder()
    from emulated_mac import profiles

    profile = profiles.find(platform.removeprefix(MAC)) if platform.startswith(MAC) else None
    if not profile:
        versions = ", ".join(profiles.PROFILES)
        raise BadInput(f"--platform {platform} is unknown", f"give linux, or macos@VERSION with one of {versions}")
    return f"{MAC}{profile.version}"


def mac_version(platform: str) -> str:
    """The version of an emulated Mac; empty for a host that is Linux."""
    return platform.removeprefix(MAC) if platform.startswith(MAC) else ""


def title(host_platforms: Mapping[str, str]) -> str:
    """The emulated Macs for a title, after a comma, so that nobody takes their figures for a Mac's."""
    versions = ((mac_version(platform), host) for host, platform in host_platforms.items())
    by_version = grouped((version, host) for version, host in versions if version)
    clients = len(host_platforms) - 1
    return "".join(f", {_macs_title(macs, clients)} ({version})" for version, macs in by_version.items())


def _macs_title(macs: Sequence[str], clients: int) -> str:
    """The emulated Macs of one version, shortened because sixteen names would fill a title."""
    if len(macs) == 1:
        return f"{macs[0]} an EMULATED Mac"
    names = [host for host in macs if host != "server"]
    if len(names) == clients > 1:
        names = ["all clients"]
    names += [host for host in macs if host == "server"]
    *first, last = names
    return f"{', '.join(first)} and {last} EMULATED Macs" if first else f"{last} EMULATED Macs"


def old_algorithms(platform: str) -> dict[str, str]:
    """Options that limit sshd to the algorithms of an old Mac; none for any other host."""
    if not (version := mac_version(platform)):
        return {}
    emulated_mac_folder()
    from emulated_mac import openssh, profiles

    return openssh.algorithms(profiles.PROFILES[version].number)
