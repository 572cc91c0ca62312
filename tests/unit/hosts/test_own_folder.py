"""The lab's own folder on a host, of which a host may say anything."""

from pathlib import Path

import pytest
from support.fake_host import EmulatedHost, FakeHost

from lab.base.errors import HostError
from lab.hosts.own_folder import LAB_HOME, lab_home
from lab.platforms.files import MAKE

ASK = ("/bin/sh", "-c", LAB_HOME, "sh")


@pytest.mark.parametrize("answer", ["", "\n", "/\n", "/var/lib/file-s", "file-share-lab\n", "/a\n/b/file-share-lab\n"])
def test_where_it_is_must_be_a_path_that_ends_in_its_name(answer: str) -> None:
    host = FakeHost()
    host.on(ASK, answer, root=True)
    with pytest.raises(HostError, match="the lab's own folder cannot be read from what the host printed"):
        lab_home(host)
    host.on(ASK, "/private/var/db/file-share-lab\n", root=True)
    assert lab_home(host) == "/private/var/db/file-share-lab"


def test_a_folder_is_made_nowhere_else_than_where_it_will_be_removed(tmp_path: Path) -> None:
    """The host knows where its own folder is, and the path comes from what it said before."""
    at_home = MAKE.replace("\nhome=\n", '\nhome="$PWD/file-share-lab"\n')
    assert at_home != MAKE
    host = EmulatedHost(tmp_path, {"perl": "echo made"}, ["sh", "cat", "ls", "mkdir", "id"])
    made = host.shell(at_home, "700", "home", "ann", "", given=f"{tmp_path}/file-share-lab/file-share-lab-1")
    assert made.stdout == "made\n"
    refused = host.shell(at_home, "700", "home", "ann", "", given="/var/lib/file-share-lab-1", check=False)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == f"{tmp_path}/file-share-lab is the lab's own folder here, not /var/lib\n"
