"""Hosts in namespaces of this machine's kernel: up in a fraction of a second on any Linux."""

from collections.abc import Sequence
from pathlib import Path

from lab.local import platforms, root_image
from lab.local.backends.base import Backend
from lab.local.state import ADDRESS, DATA_INTERFACE, PREFIX_LENGTH, Lab
from lab.local.subprocesses import check, run_inside


class Namespaces(Backend):
    """A host with Linux or an emulated Mac."""

    name = "namespaces"
    own_kernel = False
    title = "namespaces of this machine's kernel"
    ram_disk = "2 GiB"
    ssh_address = "127.0.0.1"

    def prepare(self) -> str:
        """Build the root filesystem, which every host needs."""
        root_image.ensure()
        return ""

    def layers(self) -> Sequence[Path]:
        """The root filesystem."""
        return (root_image.path(),)

    def furnish(self, lab: Lab, host: str) -> None:
        """Do nothing: the root filesystem has all files."""

    def boot(self, lab: Lab, host: str) -> str:
        """The script that turns an emulated Mac's root into a Mac's; none for Linux."""
        return "/opt/emulated_mac/boot.sh" if platforms.mac_version(lab.platforms[host]) else ""

    def plug_in(self, lab: Lab, host: str, pid: int) -> None:
        """Set the address of the end, which is in the host already."""
        check(run_inside(pid, "ip", "address", "add", f"{ADDRESS[host]}/{PREFIX_LENGTH}", "dev", DATA_INTERFACE))
        check(run_inside(pid, "ip", "link", "set", "dev", DATA_INTERFACE, "mtu", "1500", "up"))

    def inside_command(self, lab: Lab, host: str, argv: Sequence[str]) -> list[str]:
        """A command that enters the host's namespaces."""
        return ["nsenter", "--target", str(lab.hosts[host].pid), "--all", "--", *argv]
