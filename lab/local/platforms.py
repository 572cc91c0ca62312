"""The platforms of a local lab's hosts: Linux, or a Mac emulated on Linux."""

from collections.abc import Mapping, Sequence

from lab.base.errors import BadInput
from lab.local import emulated_macs
from lab.local.names import split_word

LINUX, MAC = "linux", "macos@"


def parse(words: Sequence[str], hosts: Sequence[str]) -> dict[str, str]:
    """The platform of each host, ``linux`` or ``macos@VERSION`` with the whole version. Raises BadInput."""
    host_platforms = dict.fromkeys(hosts, LINUX)
    for word in words:
        host, platform = split_word("--platform", word, hosts)
        host_platforms |= dict.fromkeys([host] if host else hosts, _complete(platform))
    return host_platforms


def _complete(platform: str) -> str:
    """A platform with the whole version of macOS. Raises BadInput."""
    if platform == LINUX:
        return LINUX
    version = emulated_macs.whole_version(platform.removeprefix(MAC)) if platform.startswith(MAC) else ""
    if not version:
        versions = ", ".join(emulated_macs.versions())
        raise BadInput(f"--platform {platform} is unknown", f"give linux, or macos@VERSION with one of {versions}")
    return f"{MAC}{version}"


def mac_version(platform: str) -> str:
    """The version of an emulated Mac; empty for a host that is Linux."""
    return platform.removeprefix(MAC) if platform.startswith(MAC) else ""


def title(host_platforms: Mapping[str, str]) -> str:
    """The emulated Macs for a title, after a comma, so that nobody takes their figures for a Mac's."""
    by_version: dict[str, list[str]] = {}
    for host, platform in host_platforms.items():
        if version := mac_version(platform):
            by_version.setdefault(version, []).append(host)
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
    version = mac_version(platform)
    return emulated_macs.old_algorithms(version) if version else {}
