"""A host that records what it is told, and a stage of two."""

from collections.abc import Callable, Generator
from typing import Any

from pydantic import SecretStr

from lab import protocols
from lab.hosts import Host, Result
from lab.protocols import Attached, Share
from lab.settings.setting import Setting
from support.paths import LINUX_CAPTURES
from support.sides import OWN, side_of

SECRET = "hunter2-do-not-show"
SMBSTATUS = (LINUX_CAPTURES / "smbstatus-4.22.json").read_text(encoding="utf-8")


class RecordingHost(Host):
    """Answers as a host that has everything, or ``lacks`` some of it, and keeps what it was told."""

    def __init__(self, role: str, lacks: tuple[str, ...]):
        super().__init__(role)
        self.lacks = lacks
        self.told: list[tuple[tuple[str, ...], str]] = []

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        self.told.append((argv, given))
        line = " ".join(argv)
        answers = {
            "mount -i -t": "no\n" if "kernel" in self.lacks else "yes\n",
            "for folder in": "" if "gvfs" in self.lacks else f"/usr/libexec/{argv[-1]}\n",
            "smbstatus": SMBSTATUS,
            "Login by": "Login by lab (AFP3.3)\n",
            "ssh-keygen": "ssh-ed25519 AAAA lab\n",
            "command -v sshd": "/usr/sbin/sshd\n",
            "id -u": "1000\n1000\n",
            "ip -o address": "4: eth0    inet 192.0.2.2/24 scope global eth0\n",
            "grep -F": "//192.0.2.2/lab /lab/mnt cifs rw,vers=3.1.1 0 0\n",
            "local path": f"{OWN}/gvfs/run/gvfs/share\n",
        }
        found = next((answer for part, answer in answers.items() if part in line), "")
        code = 1 if 'command -v "$1" sh mount_afpfs' in line and "mount_afpfs" in self.lacks else 0
        return Result(argv, code, found, "", 0.0)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """There is no connection to lose."""
        take_over()

    def close(self) -> None:
        """Nothing to let go of."""


class Stage:
    """A protocol from serving to attaching, on recording hosts; every setting that it asked for."""

    def __init__(self, name: str, lacks: tuple[str, ...] = (), served: bool = True, **options: str):
        self.hosts = {role: RecordingHost(role, lacks) for role in ("client", "server")}
        self.client = side_of(self.hosts["client"], "linux", "192.0.2.1", OWN, "me")
        self.server = side_of(self.hosts["server"], "linux", "192.0.2.2", OWN, "me")
        self.share = Share(f"{OWN}/ram", "share", "account", SecretStr(SECRET), served, options=options)
        protocol = protocols.find(name)
        drivers = {role: protocol.driver("linux") for role in self.hosts}
        self.settings: list[Setting] = []
        if served:
            self.take(drivers["server"].serve(self.server, self.share))
        self.take(drivers["client"].prepare(self.client))
        self.attached: Attached = self.take(drivers["client"].attach(self.client, self.server, self.share))

    def take(self, steps: Generator[Setting, None, Any]) -> Any:
        while True:
            try:
                self.settings.append(next(steps))
            except StopIteration as end:
                return end.value

    def told(self) -> list[tuple[tuple[str, ...], str]]:
        """Every command: those that ran, and those that the settings would run."""
        steps = [step for setting in self.settings for step in (setting.read, *setting.apply, *setting.undo("absent"))]
        ran = [told for host in self.hosts.values() for told in host.told]
        return [*ran, *((step.argv, step.given) for step in steps)]
