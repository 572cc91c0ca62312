"""Whether a kernel's server is free: the script, run where only its own programs are found, and what its words mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fake_host import EmulatedHost, FakeHost
from support.sides import OWN, side_of

from lab.base.errors import LabFailure, Unsupported
from lab.hosts import Host
from lab.protocols import Side
from lab.protocols.servers.kernel_server import KernelServer

SERVER = KernelServer(
    name="file server",
    has="[ -e module ]",
    write_holder=lambda listening: f'if {listening(111)}; then echo taken; exit; fi; read -r who <state; echo "$who"',
    programs=("serve", "export", "login"),
    install="install them",
    refusals={"taken": ("somebody has it", "ask them")},
)


def side(host: Host) -> Side:
    return side_of(host, "linux", "10.99.0.2", OWN, "me")


@pytest.fixture
def host(tmp_path: Path) -> EmulatedHost:
    """One whose own kernel has the server, free and with all of its programs."""
    (tmp_path / "module").touch()
    (tmp_path / "state").write_text("free\n")
    return EmulatedHost(tmp_path, {"cat": "echo kthreadd"} | dict.fromkeys(SERVER.programs, "exit 1"), ["sh"], "server")


def test_one_that_is_free_can_be_the_labs(host: EmulatedHost) -> None:
    assert SERVER.is_free(side(host))
    assert SERVER.find_refusal(side(host)) == ""
    assert host.calls(*SERVER.programs) == []


def test_what_nobody_can_change_is_a_reason(host: EmulatedHost) -> None:
    (host.folder / "bin" / "serve").unlink()  # which would help nobody
    (host.folder / "module").unlink()
    assert SERVER.find_refusal(side(host)) == "the kernel has no file server"
    (host.folder / "bin" / "cat").write_text("#!/bin/sh\necho bash\n")
    assert SERVER.find_refusal(side(host)) == "others share this host's kernel, which has one file server for all"
    assert not SERVER.is_free(side(host))


def test_programs_that_are_missing_are_named_with_how_to_install_them(host: EmulatedHost) -> None:
    for name in ("serve", "login"):
        (host.folder / "bin" / name).unlink()
    with pytest.raises(Unsupported, match=r"^server: no serve, login: install them$"):
        SERVER.find_refusal(side(host))
    assert not SERVER.is_free(side(host))


def test_one_that_somebody_has_is_told_with_what_to_do(host: EmulatedHost) -> None:
    (host.folder / "state").write_text("taken\n")
    with pytest.raises(Unsupported, match=r"^server: somebody has it: ask them$"):
        SERVER.find_refusal(side(host))
    assert not SERVER.is_free(side(host))


def test_its_script_asks_for_ports_as_the_host_does(host: EmulatedHost) -> None:
    (host.folder / "port-111").touch()
    with pytest.raises(Unsupported, match=r"^server: somebody has it: ask them$"):
        SERVER.find_refusal(side(host))


@pytest.mark.parametrize("answer", ["", "maybe\n", "freely\n"])
def test_any_other_answer_is_an_error(answer: str) -> None:
    host = FakeHost("server")
    host.on(SERVER.read_state(side(host)), answer, times=2)
    assert not SERVER.is_free(side(host))
    with pytest.raises(LabFailure, match="server: whether its file server is free cannot be told: '"):
        SERVER.find_refusal(side(host))
