"""The register: the open runs of this account, and the key that proves them.

Anybody may have written a run folder. So the data by which a run is restored and resumed is kept where only this user
can write: ``$XDG_STATE_HOME/file-share-lab`` (default ``~/.local/state/file-share-lab``).

- ``key``: 32 random bytes that seal run.json, the lines of journals and the entries of the register;
- ``open/ID.json``: a run that may have left hosts changed, from before its first change until all was put back;
- ``asked/``: a note for each foreign, interrupted folder without a journal whose hosts were asked.
"""

import hashlib
import hmac
import json
import os
import pwd
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.private import PrivateFolder
from lab.base.secret_texts import all_without_secrets
from lab.hosts import ROLES
from lab.hosts.hosts_file import Hosts
from lab.settings.journal import RunSeals, mac

KEY_BYTES = 32
ID = r"[0-9a-f]{32}"
# the keys of run.json that decide what happens to which hosts
SEALED = ("id", "sweep_text", "seed", "hosts_file", "hosts_digest", "instance")


@dataclass(frozen=True)
class OpenRun:
    """A run that may have left hosts changed."""

    id: str
    folder: str  # resolved
    hosts_file: str  # resolved
    hosts_digest: str
    hosts: dict[str, str]  # :func:`describe_hosts`
    instance: str | None  # of the local lab
    lines: int  # of its journal, before the first of its changes
    since: str


def state_folder() -> Path:
    """The folder of this account's register. Raises BadInput if the account has no home."""
    place = os.environ.get("XDG_STATE_HOME", "")
    if Path(place).is_absolute():
        return Path(place) / "file-share-lab"
    try:
        home = Path.home()
        if home.stat().st_uid != os.geteuid():  # sudo may leave HOME to the user who called it
            home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except (KeyError, OSError, RuntimeError) as error:
        message = f"no place for the register of runs: this account has no home ({reason_of(error)})"
        raise BadInput(message, "XDG_STATE_HOME can name a folder of your own") from error
    return home / ".local/state/file-share-lab"


def check_place() -> None:
    """Raise BadInput if there can be no register; creates nothing."""
    if (path := state_folder()).exists():
        PrivateFolder(path)


def describe_hosts(config: Hosts) -> dict[str, str]:
    """The machines of a hosts file as text: for people, and to compare."""
    sections = {name: config.section(name) for name in (*ROLES, *config.more_clients)}
    ports = {name: f" port {section.port}" if section.port else "" for name, section in sections.items()}
    return {
        str(name): f"{section.host or section.login}{ports[name]} ({section.data_address})"
        for name, section in sections.items()
    }


class Register:
    """The register of this account. Raises BadInput if its folder is not this user's own."""

    def __init__(self) -> None:
        self.path = state_folder()
        self._folder = PrivateFolder(self.path)
        self._open = PrivateFolder(self.path / "open")
        self._key = self._read_key()

    def _read_key(self) -> bytes:
        key = self._folder.read("key")
        if key is None:
            self._folder.create("key", secrets.token_bytes(KEY_BYTES))
            key = self._folder.read("key")
        if key is None or len(key) != KEY_BYTES:
            remedy = "bring it back from a backup, or remove it: then no run so far counts as begun here"
            raise BadInput(f"{self.path / 'key'}: not a key of {KEY_BYTES} bytes", remedy)
        return key

    def digest(self, config: Hosts) -> str:
        """A digest of a hosts file that reveals nothing without the key."""
        return mac(self._key, b"hosts file", config.digest).hex()

    # --- run.json

    def sign(self, run: Mapping[str, object]) -> dict[str, object]:
        content = {**run, "id": secrets.token_hex(16)}
        return {**content, "seal": self._seal_of(content)}

    def began(self, run: Mapping[str, object]) -> bool:
        """Whether this controller began the run, and the sealed keys of its run.json are unchanged."""
        seal, identity = run.get("seal"), run.get("id")
        if not isinstance(seal, str) or not isinstance(identity, str) or not re.fullmatch(ID, identity):
            return False
        return hmac.compare_digest(self._seal_of(run).encode(), seal.encode(errors="replace"))

    def _seal_of(self, run: Mapping[str, object]) -> str:
        content = all_without_secrets([run.get(key) for key in SEALED])  # as run.json has it
        return mac(self._key, b"run.json", json.dumps(content).encode()).hex()

    def seals(self, run_id: str) -> RunSeals:
        """The seals for a journal, from its first line on."""
        return RunSeals(self._key, run_id)

    # --- open runs

    def enter(self, run_id: str, folder: Path, config: Hosts, lines: int) -> None:
        """Note durably that a run is about to change hosts; its journal has so many ``lines`` before that."""
        content = asdict(OpenRun(
            id=run_id, folder=str(folder.resolve()), hosts_file=str(config.path), hosts_digest=self.digest(config),
            hosts=describe_hosts(config), instance=config.lab.instance, lines=lines,
            since=datetime.now(UTC).isoformat(),
        ))  # fmt: skip
        content["seal"] = self._seal_of_entry(content)
        self._open.write(f"{run_id}.json", json.dumps(content, indent=1).encode())

    def leave(self, run_id: str) -> None:
        """Note durably that a run has put everything back."""
        self._open.remove(f"{run_id}.json")

    def is_open(self, run_id: str) -> bool:
        return f"{run_id}.json" in self._open.names()

    def open_runs(self) -> tuple[list[OpenRun], list[str]]:
        """The runs that may have left hosts changed, oldest first; and a problem for each invalid entry."""
        runs, problems = [], []
        for name in self._open.names():
            try:
                if (text := self._open.read(name)) is not None:  # a run may end just now
                    runs.append(self._parse_entry(name, text))
            except BadInput as error:
                problems.append(str(error))
        return sorted(runs, key=lambda run: (run.since, run.id)), problems

    def _parse_entry(self, name: str, text: bytes) -> OpenRun:
        remedy = "a run may be open that it was about: `lab restore --hosts FILE` asks its hosts; then remove it"
        wrong = BadInput(f"{self.path / 'open' / name}: not an entry of this register", remedy)
        try:
            content = json.loads(text)
            seal = content.pop("seal")
            if not hmac.compare_digest(str(seal), self._seal_of_entry(content)):
                raise wrong
            entry = OpenRun(**content)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise wrong from error
        if name != f"{entry.id}.json":
            raise wrong
        return entry

    def _seal_of_entry(self, content: Mapping[str, object]) -> str:
        values = [content[field.name] for field in fields(OpenRun)]
        return mac(self._key, b"entry", json.dumps(values, sort_keys=True).encode()).hex()

    # --- folders of others

    def note_asked(self, folder: Path) -> None:
        """Note that the hosts of this folder, which has no journal, were asked."""
        PrivateFolder(self.path / "asked").write(self._name_of(folder), b"")

    def was_asked(self, folder: Path) -> bool:
        return PrivateFolder(self.path / "asked").read(self._name_of(folder)) is not None

    def _name_of(self, folder: Path) -> str:
        return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()
