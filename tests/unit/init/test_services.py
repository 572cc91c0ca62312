"""Machines that advertise services by DNS-SD, made of records that anybody on the link may send."""

from unittest.mock import Mock

import pytest
import zeroconf
from hypothesis import given
from hypothesis import strategies as st

from lab.base.errors import LabFailure
from lab.hosts.fields import host_name
from lab.init.services import LONGEST_NAME, Advertised, Machine, browse, to_machines

NAS = Advertised("SMB", "Big NAS", "nas.local.", ("192.168.77.2", "192.168.1.5"))


def test_the_services_of_one_host_are_one_machine() -> None:
    again = Advertised("AFP", "Big NAS", "NAS.local.", ("192.168.1.5", "10.0.0.1"))
    addresses = ("192.168.77.2", "192.168.1.5", "10.0.0.1")
    ssh = Advertised("SSH", "nas", "nas.local.", ("192.168.1.5",))
    assert to_machines([NAS, again, ssh]) == [Machine("Big NAS", "nas.local", addresses, ("AFP", "SMB", "SSH"))]


def test_a_file_server_stands_before_a_machine_with_ssh_alone_and_has_its_own_name() -> None:
    ssh = Advertised("SSH", "an ssh daemon", "nas.local.", ("192.168.77.2",))
    box = Advertised("SSH", "box", "box.local.", ("192.168.1.9",))
    assert [machine.name for machine in to_machines([box, ssh, NAS])] == ["Big NAS", "box"]


def test_what_cannot_be_reached_or_named_is_left_out() -> None:
    unreachable = ("127.0.0.1", "224.0.0.1", "0.0.0.0", "fe80::1", "nonsense")
    wrong = [Advertised("SMB", "x", "nas.local.", addresses) for addresses in ((), unreachable)]
    names = ("", "-oProxyCommand=id.local.", "a b$(id).local.")
    assert to_machines([None, *wrong, *(Advertised("SMB", "x", name, ("192.168.1.5",)) for name in names)]) == []


@pytest.mark.parametrize("error", [OSError(19, "no such device"), RuntimeError("No interfaces to listen on")])
def test_a_machine_without_a_network_asks_nobody(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(zeroconf, "Zeroconf", Mock(side_effect=error))
    with pytest.raises(LabFailure, match=r"nobody on the link can be asked by DNS-SD: .*(no such device|No interf)"):
        browse()


TEXTS = st.text(max_size=80)


@given(st.lists(st.builds(Advertised, st.sampled_from(["SMB", "SSH"]), TEXTS, TEXTS, st.tuples(st.just("10.0.0.1")))))
def test_whatever_is_advertised_can_be_shown_and_typed(services: list[Advertised]) -> None:
    for machine in to_machines(services):
        assert host_name(machine.host) == machine.host
        assert len(machine.name) <= max(LONGEST_NAME, len(machine.host))
        assert machine.name.replace(" ", "x").isprintable()
