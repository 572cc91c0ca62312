"""Whether a run may be gone on with: one that this controller began, or one that the user trusts."""

from collections.abc import Mapping
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import first_line
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.results.run_folder import RunFolder
from lab.run.restore import foreign
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal
from lab.settings.register import Register

TRUST = "look at its run.json; then `lab run --resume RUN --trust --hosts FILE`, with a hosts file of your own"


def hosts_of(register: Register, folder: RunFolder, hosts_file: Path | None, trust: bool) -> Hosts:
    """The hosts file to go on with: the one that was named, else that of the run. Raises BadInput.

    That of the run counts only where this controller wrote its name, and the file is as it was then.
    """
    began = register.began(folder.run)
    if not began and not (trust and hosts_file):
        named = first_line(str(folder.run.get("hosts_file", "")))
        raise BadInput(
            f"{folder.path}: this account did not begin this run, or what its run.json says was changed since: neither "
            f"the hosts of {named!r}, which it names, are reached nor its sweep run",
            TRUST,
        )
    if hosts_file:
        return load_hosts(hosts_file)
    config = load_hosts(Path(folder.text("hosts_file")))
    if register.digest(config) != folder.text("hosts_digest"):
        raise BadInput(
            f"{config.path}: has changed since the run began", "look if it is right, and name it: --hosts FILE"
        )
    return config


def check_journal(register: Register, folder: RunFolder, trust: bool) -> None:
    """Raise BadInput where the run left hosts changed, or its journal is not what this controller wrote."""
    first = BadInput(f"{folder.path}: an earlier end of this run left hosts changed", "run `lab restore` first")
    if register.began(folder.run):
        if register.is_open(folder.text("id")):
            raise first
        if trust:
            return
        try:
            foreign.look(folder.path)  # a journal that is a link, or no file, is not even opened
            records = Journal(folder.journal_path, line_format(), register.seals(folder.text("id"))).open
        except BadInput as error:
            raise BadInput(f"{error.cause()}: not what this run wrote there", TRUST) from error
        if records:
            raise BadInput(f"{folder.journal_path}: has changes that were put back long ago", TRUST)
    elif records := foreign.look(folder.path):
        raise BadInput(
            f"{folder.path}: {foreign.count(records)} of its journal were not put back:\n{foreign.describe(records)}",
            f"`lab restore --trust {folder.path} --hosts FILE` puts that back",
            several=True,
        )


def adopt(folder: RunFolder, run: Mapping[str, object]) -> None:
    """Make a run one of this controller's, by the content of a new run.json; its journal so far is put aside."""
    foreign.put_aside(folder.path)
    folder.update(**run)
