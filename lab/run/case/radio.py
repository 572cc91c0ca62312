"""The Wi-Fi of the hosts whose data link is one: its rate and signal, right after each transfer.

Reading it before a transfer could disturb that: system_profiler takes a second or more. It may scan for other networks,
and a card that scans sends nothing.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lab.base.errors import HostError, LabFailure
from lab.hosts import Role
from lab.platforms.network import Radio
from lab.results.observed import HostUsage, Observed
from lab.run.case.pair import Pair


class Radios:
    """Those of both hosts. Whether an interface is wireless is asked once in a run."""

    def __init__(self, pair: Pair):
        self._pair = pair
        self._wireless: dict[Role, bool] = {}

    def read(self) -> dict[Role, Radio]:
        """What each wireless interface says now; a host that does not say is left out. Raises HostError."""
        roles = self._pair.roles
        with ThreadPoolExecutor(len(roles)) as threads:
            radios = list(threads.map(self._read, roles))
        return {role: radio for role, radio in zip(roles, radios, strict=True) if radio}

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
    """The same, and with what the radios said."""
    sides = {
        role.value: replace(
            observed.of(role) or HostUsage(), wifi_bits_per_s=radio.bits_per_s, wifi_signal_dbm=radio.signal_dbm,
            wifi_noise_dbm=radio.noise_dbm,
        )
        for role, radio in radios.items()
    }  # fmt: skip
    return replace(observed, client=sides.get("client", observed.client), server=sides.get("server", observed.server))
