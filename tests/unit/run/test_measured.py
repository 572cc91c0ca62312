"""What keeps a transfer from counting, whatever it came to."""

from dataclasses import replace

from lab.platforms import Counters
from lab.run.transfer.result import describe_outage

STEADY = Counters(10**6, 10**6, None, None, carrier_changes=0)


def test_a_transfer_during_which_a_link_went_down_does_not_count() -> None:
    cut = replace(STEADY, carrier_changes=2)
    assert describe_outage({"client": STEADY, "server": cut}) == "an outage: 2 carrier changes on the server"
    both = "an outage: 2 carrier changes on the client, 2 carrier changes on the server"
    assert describe_outage({"client": cut, "server": cut}) == both


def test_nor_is_an_outage_said_where_none_was_or_nobody_counts() -> None:
    unknown = replace(STEADY, carrier_changes=None)
    assert [describe_outage({"client": STEADY, "server": server}) for server in (STEADY, unknown, None)] == [""] * 3
