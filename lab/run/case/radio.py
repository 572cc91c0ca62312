"""Rate and signal of the hosts' Wi-Fi, if it is their data link, right after each transfer.

Reading them before a transfer could disturb it: system_profiler takes a second or more. It may scan for other networks,
and a card that scans sends nothing.
"""

from collections.abc import Mapping
from dataclasses import replace

from lab.base.errors import HostError, LabFailure
from lab.hosts import Role
from lab.platforms.network import Radio
from lab.results.observed import HostUsage, Observed
from lab.run.case.pair import Pair


class Radios:
    """The radios of both hosts. Each interface is asked once in a run whether it is wireless."""

    def __init__(self, pair: Pair):
        self._pair = pair
        self._wireless: dict[Role, bool] = {}

    def read(self) -> dict[Role, Radio]:
        """The present state of each radio that can be read. Raises HostError."""
        return {role: radio for role, radio in self._pair.ask(self._read).items() if radio}

    def _read(self, role: Role) -> Radio | None:
        network, interface = self._pair.platforms[role].network, self._pair.interface(role)
        try:
            if role not in self._wireless:
                self._wireless[role] = network.medium(interface).wireless is True
            return network.radio(interface) if self._wireless[role] else None
        except HostError:
            raise
        except LabFailure:
            return None


def with_radios(observed: Observed, radios: Mapping[Role, Radio]) -> Observed:
    """What was observed, with the state of the radios."""
    sides = {
        role.value: replace(
            observed.of(role) or HostUsage(), wifi_bits_per_s=radio.bits_per_s, wifi_signal_dbm=radio.signal_dbm,
            wifi_noise_dbm=radio.noise_dbm,
        )
        for role, radio in radios.items()
    }  # fmt: skip
    return replace(observed, client=sides.get("client", observed.client), server=sides.get("server", observed.server))
