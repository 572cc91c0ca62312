"""The Wi-Fi of a data link after a transfer: asked where there is one, and kept with what else the host counted."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, call

import pytest
from support.pairs import hosts_model, pair_of

from lab.base.errors import HostLost, LabFailure
from lab.hosts import Role
from lab.platforms.network import Medium, Radio
from lab.results.observed import HostUsage, Observed
from lab.run.case.radio import Radios, with_radios

AIR = Radio(866_700_000, -54, -92)


def network(wireless: bool | None, radio: Radio | Exception = AIR) -> Mock:
    """A network whose interface is wireless, or not; or that fails."""
    return Mock(medium=Mock(return_value=Medium(wireless)), radio=Mock(side_effect=[radio, radio]))


def radios(client: Mock, server: Mock) -> Radios:
    networks: dict[str, Any] = {Role.CLIENT: client, Role.SERVER: server}
    platforms = {role: SimpleNamespace(network=network) for role, network in networks.items()}
    return Radios(pair_of(hosts_model(client={"interface": "en0"}, server={"interface": "en1"}), platforms=platforms))


def test_the_air_is_asked_after_every_transfer_and_a_cable_once_whether_it_is_one() -> None:
    wifi, cable = network(True), network(False)
    both = radios(wifi, cable)
    assert [both.read(), both.read()] == [{Role.CLIENT: AIR}] * 2
    assert wifi.mock_calls == [call.medium("en0"), call.radio("en0"), call.radio("en0")]
    assert cable.mock_calls == [call.medium("en1")]


def test_a_radio_that_says_nothing_costs_no_trial_but_a_lost_host_is_not_passed_over() -> None:
    assert radios(network(True, LabFailure("not a property list")), network(None)).read() == {}
    with pytest.raises(HostLost):
        radios(network(False), network(True, HostLost("gone"))).read()


def test_the_state_of_a_radio_is_added_to_what_else_was_counted() -> None:
    observed = Observed(client=HostUsage(cores=8))
    assert with_radios(observed, {Role.CLIENT: AIR, Role.SERVER: Radio(signal_dbm=-70)}).to_json() == {
        "client": {"cores": 8, "wifi_bits_per_s": 866_700_000, "wifi_signal_dbm": -54, "wifi_noise_dbm": -92},
        "server": {"wifi_signal_dbm": -70},
    }
    assert with_radios(observed, {}) == observed
