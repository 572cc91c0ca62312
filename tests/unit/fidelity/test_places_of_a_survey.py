"""What a survey goes through, and what of it is refused before a host is reached."""

import pytest
from support.pairs import hosts_model

from lab.base.errors import BadInput
from lab.fidelity import copiers
from lab.fidelity.copiers import THERE, Engine
from lab.fidelity.places import Asked, list_places, make_sweep
from lab.hosts.hosts_file import Hosts

LAB = hosts_model(share={"serve": "lab"})


def labels(asked: Asked, config: Hosts = LAB) -> list[str]:
    return [place_case.place.label for place_case in list_places(make_sweep(asked, config, 1500))]


def test_by_default_every_protocol_is_surveyed_on_every_store() -> None:
    expected = [f"{name} {store}" for name in ("AFP", "NFS", "SMB", "SSH") for store in ("disk", "ram")]
    assert sorted(labels(Asked())) == expected
    assert labels(Asked(protocols=["smb"]), hosts_model()) == ["SMB disk"]  # the store of an existing share


def test_each_level_of_an_option_is_a_place() -> None:
    asked = Asked(protocols=["smb"], stores=["ram"], options=["smb.time_machine=default,false", "smb.dialect=3.1.1"])
    assert labels(asked) == ["SMB ram smb.dialect=3.1.1", "SMB ram smb.time_machine=false smb.dialect=3.1.1"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(protocols=["smbx"]), "unknown protocol 'smbx'"),
        (Asked(options=["smb.time_machine"]), "--option 'smb.time_machine': is not an option with levels"),
        (Asked(options=["x]\n=3"]), "is not an option with levels"),
        (Asked(options=["smb.no_such=3"]), "smb.no_such: unknown"),
        (Asked(options=["smb.time_machine=maybe"]), "smb.time_machine"),
        (Asked(tools=["rsync-al"]), "unknown tool 'rsync-al'; known are cp, .*rsync-all"),
    ],
)
def test_what_cannot_be_is_refused(asked: Asked, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        _ = labels(asked), asked.copiers


def test_rsync_all_takes_what_the_engine_has_and_a_remote_shell_last() -> None:
    engine = Engine("client", "/usr/bin/rsync", "rsync 3.5.0", {"H": THERE, "A": THERE, "X": "built without it"})
    everything = copiers.find(copiers.EVERYTHING)
    assert everything.words("linux", engine, "") == ("rsync", "-a", "-HA")
    assert everything.words("linux", None, "ssh -p 22") == ("rsync", "-a", "-e", "ssh -p 22")
    assert copiers.find("rsync-a").words("linux", engine, "") == ("rsync", "-a")
