"""The Wi-Fi of a data link after a transfer: asked where there is one, and kept with what else the host counted."""

from types import SimpleNamespace
from typing import Any

import pytest
from support.pairs import hosts_model, pair_of

from lab.base.errors import HostLost, LabFailure
from lab.hosts import ROLES, Role
from lab.platforms.network import Medium, Radio
from lab.results.observed import HostUsage, Observed
from lab.run.case.radio import Radios, with_radios

AIR = Radio(866_700_000, -54, -92)


class Network:
    """A network whose interface is wireless, or not; or that fails."""

    def __init__(self, wireless: bool | None, radio: Radio | Exception = AIR):
        self.wireless, self.answer = wireless, radio
        self.asked: list[str] = []

    def medium(self, interface: str) -> Medium:
        self.asked.append(f"medium of {interface}")
        return Medium(self.wireless)

    def radio(self, interface: str) -> Radio:
        self.asked.append(f"radio of {interface}")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def radios(client: Network, server: Network) -> Radios:
    parts: dict[Role, Any] = dict(zip(ROLES, (client, server), strict=True))
    platforms: dict[str, Any] = {role: SimpleNamespace(network=network) for role, network in parts.items()}
    config = hosts_model(client={"interface": "en0"}, server={"interface": "en1"})
    return Radios(pair_of(config, platforms=platforms))


def test_the_air_is_asked_after_every_transfer_and_a_cable_once_whether_it_is_one() -> None:
    wifi, cable = Network(True), Network(False)
    both = radios(wifi, cable)
    assert [both.read(), both.read()] == [{Role.CLIENT: AIR}] * 2
    assert wifi.asked == ["medium of en0", "radio of en0", "radio of en0"]
    assert cable.asked == ["medium of en1"]


def test_a_radio_that_says_nothing_costs_no_trial_but_a_lost_host_is_not_passed_over() -> None:
    assert radios(Network(True, LabFailure("not a property list")), Network(None)).read() == {}
    with pytest.raises(HostLost):
        radios(Network(False), Network(True, HostLost("gone"))).read()


def test_what_a_radio_said_stands_beside_what_else_was_counted() -> None:
    observed = Observed(client=HostUsage(cores=8))
    found = with_radios(observed, {Role.CLIENT: AIR, Role.SERVER: Radio(signal_dbm=-70)})
    assert found.to_json() == {
        "client": {"cores": 8, "wifi_bits_per_s": 866_700_000, "wifi_signal_dbm": -54, "wifi_noise_dbm": -92},
        "server": {"wifi_signal_dbm": -70},
    }
    assert with_radios(observed, {}) == observed
