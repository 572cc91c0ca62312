"""A server with three clients, and checks of trials with all three."""

from collections.abc import Callable
from typing import Any

import pytest

from support.local_lab import Bench


@pytest.fixture(scope="module")
def room(new_bench: Callable[..., Bench]) -> Bench:
    """Three clients, the third with a slower link, and one server."""
    return new_bench("--clients", "3", "--rate", "400mbit", "--rate", "client.3=50mbit")


CLIENTS = ("client", "client.2", "client.3")


def parts_of(trial: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {part["name"]: part for part in trial["observed"]["together"]["clients"]}


def assert_figures_agree(trial: dict[str, Any]) -> None:
    """The figures of all clients follow from those of each."""
    together, parts = trial["observed"]["together"], parts_of(trial)
    assert tuple(parts) == CLIENTS
    starts = [part["started_s"] for part in parts.values()]
    ends = [part["ended_s"] for part in parts.values()]
    assert together["skew_s"] == pytest.approx(max(starts) - min(starts), abs=1e-5)
    assert together["skew_s"] + together["skew_bound_s"] <= max(0.05, 0.01 * min(ends))
    assert trial["elapsed_s"] == pytest.approx(max(ends) - min(starts), abs=1e-5)
    assert together["all_active_s"] == pytest.approx(min(ends) - max(starts), abs=1e-5)
    assert together["tail_s"] == pytest.approx(max(ends) - min(ends), abs=1e-5)
    moved = sum(part["tx_bytes" if trial["direction"] == "write" else "rx_bytes"] for part in parts.values())
    assert trial["size_bytes"] < moved < 1.2 * trial["size_bytes"]
    assert 0 < together["all_active_bytes"] <= moved


def check_trials(trials: list[dict[str, Any]], size_bytes: int) -> list[dict[str, Any]]:
    """The good trials. Others may only have failed because a busy machine kept the clients apart."""
    good = [trial for trial in trials if trial["status"] == "ok"]
    bad = [trial["reason"] for trial in trials if trial["status"] != "ok"]
    assert all(reason.startswith("the clients did not start together") for reason in bad), bad
    assert len(good) >= len(bad)  # trials of one client cannot fail so
    for trial in good:
        clients = int(trial["options"]["clients"])
        assert (trial["size_bytes"], trial["files"], trial["verified"]) == (clients * size_bytes, clients, True)
        assert ("together" in trial["observed"]) is (clients > 1)
        if clients > 1:
            assert_figures_agree(trial)
    return good
