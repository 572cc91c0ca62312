"""Run folders that an attacker hands over, by what is wrong with each.

``bait`` is a file that their commands would make, ``victim`` a file outside that they would overwrite."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.platforms.linux.settings import LinuxMtu
from lab.results.run_folder import RunFolder
from lab.settings.journal import Record
from support.planted import EVIL
from support.synthetic_runs import trial, write_run

HOSTS = """\
[client]
host = 127.0.0.1
proxy_command = sh -c 'touch {bait}'; false
data_address = 192.0.2.1
[server]
host = 127.0.0.1
transport = openssh
proxy_command = sh -c 'touch {bait}'; false
data_address = 192.0.2.2
[share]
account = lab
"""
SWEEP = 'name = "{name}"\n[workload]\nsize = "1 MiB"\n[factors]\nprotocol = ["ssh"]\n'
# Files that a run appends to, and the folder of the report
WRITTEN = ("journal.torn", "trials.torn", "samples.jsonl", "commands.log", "report")


@dataclass(frozen=True)
class Place:
    folder: RunFolder
    bait: Path
    victim: Path

    @property
    def path(self) -> Path:
        return self.folder.path

    def journal(self, *lines: dict[str, Any]) -> None:
        self.folder.journal_path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def change(number: int = 1) -> dict[str, Any]:
    """A valid change of a journal that nobody made."""
    return Record(number, "client", LinuxMtu("eth0"), "1500", "9000").as_json()


def change_line() -> str:
    return json.dumps(change()) + "\n"


def hosts_file_of_its_own(place: Place) -> None:
    """The hosts file in the folder has a command for the controller."""
    (place.path / "hosts.ini").write_text(HOSTS.format(bait=place.bait))
    place.folder.update(hosts_file=str(place.path / "hosts.ini"))
    place.journal(change())


def commands_in_the_journal(place: Place) -> None:
    touch = {"argv": ["/bin/sh", "-c", f"touch {place.bait}"], "root": True, "deadline_s": 30.0}
    old = {"name": "x", "old": "absent", "new": "there", "read": touch, "undo": [touch], "event": "change"}
    place.journal({"number": 1, "host": "server", "run": "deadbeef", "boot": "", **old})


def operations_beyond_the_labs_own(place: Place) -> None:
    """Known kinds, with parameters that the lab would never write."""
    place.journal(change() | {"old": "absent", "new": "present", "operation": {"kind": "folder", "path": "/etc"}})


def links_to_a_victim(place: Place) -> None:
    place.journal(change())
    for name in WRITTEN:
        (place.path / name).symlink_to(place.victim)


def a_report_elsewhere(place: Place) -> None:
    (place.path / "report").symlink_to(place.victim.parent, target_is_directory=True)


def files_that_never_end(place: Place) -> None:
    """A pipe that nobody writes to, and a device."""
    os.mkfifo(place.folder.journal_path)
    place.folder.trials_path.unlink()
    place.folder.trials_path.symlink_to("/dev/zero")


def texts_that_act(place: Place) -> None:
    place.folder.update(title=EVIL, hosts_file=EVIL, code_version=EVIL, sweep_text=EVIL)
    place.folder.append(trial(trial_id="b", status="failed", reason=EVIL, options={"placebo": EVIL}))
    place.journal(change() | {"old": EVIL, "new": EVIL})


def a_sweep_that_leads_elsewhere(place: Place) -> None:
    name = f"../../{place.victim.parent.name}/new"
    place.folder.update(name=name, sweep_text=SWEEP.format(name=name))


def a_journal_that_begins_in_the_middle(place: Place) -> None:
    """It says that all was restored."""
    place.folder.journal_path.write_text('{"number": 1, "event": "restored"}\n')


def brackets_without_end(place: Place) -> None:
    """A recursive parser would end in a traceback."""
    place.journal(change())
    place.folder.trials_path.write_text("[" * 100_000 + "\n")
    (place.path / "run.json").write_text('{"schema": 2, "hosts": ' + '{"a": ' * 100_000)


HOSTILE: tuple[Callable[[Place], None], ...] = (
    hosts_file_of_its_own, commands_in_the_journal, operations_beyond_the_labs_own, links_to_a_victim,
    a_report_elsewhere, files_that_never_end, texts_that_act, a_sweep_that_leads_elsewhere,
    a_journal_that_begins_in_the_middle, brackets_without_end,
)  # fmt: skip


def hostile_run(results: Path, spoil: Callable[[Place], None], bait: Path, victim: Path) -> Path:
    """An interrupted run folder with one of HOSTILE, as `lab restore` looks for."""
    run = {"ended": "interrupted", "instance": None, "hosts_file": "hosts.ini", "sweep_text": SWEEP.format(name="x")}
    folder = write_run(results, [trial()], **run)
    spoil(Place(folder, bait, victim))
    return folder.path


def attacked_run(bait: Path, journal: str = "") -> Path:
    """An interrupted run with a hosts file in its folder, below the current folder."""
    path = Path("results/20260101T000000Z-blog")
    write_run(Path("results"), [trial()]).path.rename(path)
    (path / "hosts.ini").write_text(HOSTS.format(bait=bait))
    RunFolder(path).update(hosts_file=f"{path}/hosts.ini", ended="interrupted", instance=None)
    if journal:
        (path / "journal.jsonl").write_text(journal)
    return path
