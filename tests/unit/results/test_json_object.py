"""What a file holds comes back as it was, known to this version of the lab or not."""

from typing import Any

import pytest

from lab.results.effective import Effective
from lab.results.observed import HostUsage, Observed, TcpFacts


@pytest.mark.parametrize("record", [
    {},
    {"client": {"cores": 2, "cpu_cores": 1, "samples": 0}, "tcp": {}, "remarks": ["odd"]},
    {"client": {"cores": None, "cpu_cores": True, "user_s": 1.5}, "server": None, "remarks": [1], "wire": []},
    {"other": {"other": 1}, "client": {"other": 2}, "remarks": "odd"},
])  # fmt: skip
def test_whatever_was_observed_comes_back(record: dict[str, Any]) -> None:
    assert Observed.from_json(record).to_json() == record


def test_known_keys_are_fields_and_all_are_written_in_their_order() -> None:
    observed = Observed.from_json({"client": {"cores": 2, "user_s": 1.5}, "tcp": {"rtt_ms": 1}, "remarks": ["odd"]})
    assert observed.client == HostUsage(cores=2, other={"user_s": 1.5})
    assert (observed.server, observed.tcp, observed.remarks) == (None, TcpFacts(rtt_ms=1), ("odd",))
    effective = Effective.from_json({"mount": "kernel", "smb.signing": "true", "client_mtu": 1500})
    assert (effective.mount, effective.client_mtu) == ("kernel", None)
    assert effective.other == {"smb.signing": "true", "client_mtu": 1500}
    written = Effective(client_mtu="1500", mount="kernel", other={"smb.client": "kernel"}, clock="monotonic")
    assert list(written.to_json()) == ["client_mtu", "mount", "smb.client", "clock"]
