"""The two hosts of a run: which folders are theirs, and which of them are changed."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.parts import case_of

from lab import platforms
from lab.hosts import Role
from lab.hosts.hosts_file import Hosts
from lab.platforms.linux.platform import Linux
from lab.run.case import pair
from lab.run.case.pair import Pair
from lab.run.case.sharing import Shares


class AtHome(Linux):
    """A platform whose account lives at ``/home/<role>``."""

    def facts(self, peer: str) -> Any:
        return SimpleNamespace(home=f"/home/{self.host.name}", user="me")


@pytest.mark.parametrize(
    ("path", "server"),
    [("~", "/home/server"), ("~/x~y", "/home/server/x~y"), ("/a~b", "/a~b"), ("/~/b", "/~/b"), ("/a", "/a")],
)
def test_a_path_may_begin_at_the_home_of_its_host(monkeypatch: pytest.MonkeyPatch, path: str, server: str) -> None:
    monkeypatch.setattr(platforms, "detect", AtHome)
    monkeypatch.setattr(pair, "real_path", lambda _, folder: folder)
    addresses = {"client": "192.0.2.1", "server": "192.0.2.2"}
    sections = {
        role: {"host": role, "data_address": address, "mount_base": path} for role, address in addresses.items()
    }
    config = Hosts.model_validate(sections | {"share": {"account": "me", "path": path}})
    both = Pair.of({role: FakeHost(role) for role in sections}, config)
    assert Shares(both, SecretStr("x")).share(case_of(store="disk")).path == server
    folders = [both.sides[role].directory.rpartition("/") for role in (Role.SERVER, Role.CLIENT)]
    assert [above for above, _, _ in folders] == [server, server.replace("server", "client")]
    names = {*(name for _, _, name in folders), both.store_name}
    assert len(names) == 3, "each has a name of its own"
    assert all(re.fullmatch("file-share-lab-[0-9a-f]{16}", name) for name in names)
