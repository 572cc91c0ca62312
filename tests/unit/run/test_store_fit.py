"""What is refused before anything is changed: tools of the store that are missing, too old, or without room."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.fake_host import FakeHost
from support.pairs import UNSEEN, hosts_model, pair_of
from support.sweeps import sweep_with

from lab.base.errors import BadInput, Unsupported
from lab.design.sweep_file import Sweep
from lab.platforms.linux.programs import LinuxPrograms
from lab.run.begin import store_fit
from lab.run.begin.compatibility import check_fit
from lab.run.case.pair import Pair

GIB, HOSTS = 2**30, Path("hosts.ini")
USAGE = "usage:\n\nVersion: {}\n"


class Server(LinuxPrograms):
    """The programs of a server, which lacks those that a test says."""

    def __init__(self, *lacking: str):
        super().__init__(FakeHost("server"))
        self.lacking = lacking

    def missing(self, programs: Any) -> list[str]:
        return [name for name in programs if name in self.lacking]

    def how_to_install(self, package: str) -> str:
        return f"`apt-get install {package}` there"


def pair(programs: Server, free_bytes: int = 100 * GIB, memory_bytes: int = 4 * GIB) -> Pair:
    facts = SimpleNamespace(memory_bytes=memory_bytes, home="/home/me")
    files = SimpleNamespace(free_bytes=lambda path: free_bytes if path == "/srv/share" else None)
    platform = SimpleNamespace(programs=programs, files=files)
    return pair_of(hosts={"server": programs.host}, platforms={"server": platform}, facts={"server": facts})


def sweep_of_tools(*tools: str, **more: Any) -> Sweep:
    return sweep_with(store_tools=list(tools), factors={"store": ["ram", "disk"]}, **more)


def on_disk(*tools: str) -> Sweep:
    return sweep_with(store_tools=list(tools), factors={"store": ["disk"]})


def version(programs: Server, printed: str = "2.00a") -> Server:
    host: Any = programs.host
    host.on(("bonnie++", "-h"), stderr=USAGE.format(printed), exit_code=1)
    return programs


def test_dd_is_everywhere_and_nothing_is_asked_for_it() -> None:
    store_fit.check_hosts(pair(Server()), sweep_of_tools("dd"))


@pytest.mark.parametrize("tool", ["bonnie++", "fio"])
def test_a_missing_program_is_named_with_how_to_get_it(tool: str) -> None:
    with pytest.raises(Unsupported) as refused:
        store_fit.check_hosts(pair(Server(tool)), sweep_of_tools("dd", tool))
    assert f"store_tools needs {tool}" in str(refused.value)
    assert f"apt-get install {tool}" in str(refused.value)


def test_another_bonnie_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"is version 1\.03d"):
        store_fit.check_hosts(pair(version(Server(), "1.03d")), sweep_of_tools("bonnie++"))


def test_twice_the_memory_must_fit_unless_a_smaller_size_is_asked_for() -> None:
    with pytest.raises(Unsupported) as refused:
        store_fit.check_hosts(pair(version(Server()), 8 * GIB), sweep_of_tools("bonnie++"))
    assert "bonnie++ needs" in refused.value.message
    assert f"{8 * GIB} are free" in refused.value.message
    assert "bonnie_size" in refused.value.remedy
    store_fit.check_hosts(pair(version(Server()), 8 * GIB), sweep_of_tools("bonnie++", bonnie_size="1 GiB"))
    store_fit.check_hosts(pair(version(Server()), 9 * GIB), sweep_of_tools("bonnie++"))


def test_nothing_is_looked_at_for_a_sweep_that_leaves_the_disk_alone() -> None:
    store_fit.check_hosts(pair(Server("bonnie++")), sweep_with(store_tools=["bonnie++"], factors={"store": ["ram"]}))


def test_tools_that_would_measure_nothing_are_bad_input() -> None:
    in_memory = sweep_with(store_tools=["dd", "bonnie++"], factors={"store": ["ram"]})
    with pytest.raises(BadInput, match=r'store_tools: bonnie\+\+: .* store has no "disk"'):
        check_fit(hosts_model(share={"serve": "lab"}), in_memory)
    share: dict[str, str | None] = {"serve": "existing", "name": "data"}
    unseen = hosts_model(server=UNSEEN, share=share)
    with pytest.raises(BadInput, match=r"store_tools: fio: .* nobody logs in"):
        check_fit(unseen, on_disk("fio"))
    check_fit(unseen, on_disk("dd"))
