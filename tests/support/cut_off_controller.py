"""A controller inside a network namespace that makes one change which may cut it off.

Usage: cut_off_controller.py FOLDER INTERFACE CHANGE BREAK REVERT_AFTER_S
Prints ``changed`` after the change, and how it ended."""

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import LabFailure
from lab.hosts.command import Command, command, script
from lab.hosts.fields import Interface
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.platforms.linux.platform import Linux
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal
from lab.settings.changes import Settings
from lab.settings.host_journal import HostJournal
from lab.settings.journal import Journal, LineFormat
from lab.settings.operation import Operation, Setting


@dataclass(frozen=True)
class Link(Operation):
    """A link; setting it down also removes its route."""

    kind = "link"
    values = "up|down"
    may_cut_off = True

    interface: Interface

    @property
    def label(self) -> str:
        return f"link of {self.interface}"

    def read(self) -> Command:
        look = 'if ip link show dev "$1" | grep -q "[<,]UP[,>]"; then echo up; else echo down; fi'
        return script(look, self.interface)

    def _undo(self, old: str) -> tuple[Command, ...]:
        up = 'ip link set dev "$1" up && ip route replace 10.98.1.0/24 via 10.98.2.1'
        return (script(up, self.interface, root=True),)


LINES = LineFormat({**line_format().kinds, Link.kind: Link})


def link_down(interface: str) -> Setting:
    down = command("ip", "link", "set", "dev", interface, "down", root=True)
    return Setting("server", Link(interface), "down", (down,))


def main() -> int:
    folder, interface, change, how, revert_after_s = Path(sys.argv[1]), *sys.argv[2:]
    config = HostConfig.model_validate(json.loads((folder / "server.json").read_text()))
    host = SshHost("server", config)
    noted = HostJournal(host, "feed", {"who": "a test", "pid": str(os.getpid()), "since": "now"}, float(revert_after_s))
    settings = Settings({"server": host}, Journal(folder / "journal.jsonl", LINES), {"server": noted}, patience_s=30)
    settings.claim("server")
    setting = link_down(interface) if change == "down" else Linux(host).settings.mtu(interface, int(change))

    def cut(*_: object) -> None:
        print("changed", flush=True)
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "unplugged":
            sys.stdin.readline()  # until the test has pulled the cable

    if how in ("killed", "unplugged"):
        SshHost.reconnect = cut  # type: ignore[method-assign, assignment]
    try:
        settings.apply(setting)
        print("confirmed", flush=True)
    except LabFailure as error:
        print(error, flush=True)
    settings.unwind()
    print("unwound", json.dumps([record.name for record in host_journal.read(host, LINES).records]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
