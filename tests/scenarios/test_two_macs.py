"""Whole sweeps over emulated Macs: every protocol that two versions have, with real transfers, and nothing left."""

import json
from collections.abc import Callable

import pandas as pd
import pytest
from support.local_lab import HOSTS, Bench
from support.macs import state, swept


@pytest.mark.parametrize(
    ("client", "server", "store", "protocols"), [("macos@10.13", "macos@10.13", "ram", ["afp", "nfs", "smb", "ssh"])]
)
def test_the_protocols_of_two_systems_are_measured_and_nothing_stays(
    new_bench: Callable[..., Bench], client: str, server: str, store: str, protocols: list[str]
) -> None:
    bench = new_bench("--platform", f"client={client}", "--platform", f"server={server}")
    if client == "macos@27":  # without Homebrew's, macOS has an iperf3 of its own
        for host in HOSTS:
            bench.inside(host, "mv /opt/homebrew/bin/iperf3 /usr/bin/iperf3-darwin")
    if server != "linux":
        addresses = "ipconfig getifaddr en0; ipconfig getifaddr en7 || echo none"
        assert bench.inside("server", addresses) == "10.99.0.2\nnone\n"
    before = state(bench, (client, server))
    asked = [*protocols, *({"afp"} - set(protocols))]  # where Apple has taken AFP out, a sweep goes on without it
    tools = [{"macos@10.13": "ditto", "macos@27": "rsync-cache"}.get(client, "cp"), "rsync"]
    trials = swept(bench, protocol=asked, tool=tools, mtu=[9000], store=[store], size="2 MiB")
    assert state(bench, (client, server)) == before
    assert set(trials["protocol"]) == set(protocols)
    assert len(trials) == sum(4 if protocol != "ssh" else 2 for protocol in protocols)
    assert trials["verified"].all()
    versions = {effective["tool_version"] for effective in trials["effective"] if "tool_version" in effective}
    assert any(version.endswith(", --cache") for version in versions) == ("rsync-cache" in tools)
    moved = trials["wire_tx_bytes"].where(trials["direction"] == "write", trials["wire_rx_bytes"])
    assert (moved >= trials["size_bytes"]).all()
    dialects = {row["protocol"]: row["effective"].get("dialect") for _, row in trials.iterrows()}
    if client == "linux":  # neither libsmbclient, which GVfs uses, nor a Mac's server tells the dialect
        assert "smb" not in dialects or dialects["smb"] is None
    else:
        assert dialects["nfs"] == "NFSv3"
        assert dialects["smb"].startswith("SMB 1" if client == "macos@10.6" else ("SMB 2", "SMB 3"))
    run = json.loads((bench.newest() / "run.json").read_text())
    assert "EMULATED" in run["title"]
    assert all(facts["tools"]["iperf3"].startswith("iperf 3") for facts in run["hosts"].values())
    for role in HOSTS:  # a Mac too counts the time of its processes
        busiest = [trial["observed"].get(role, {}).get("process_mean") for trial in bench.trials()]
        assert any(busiest), busiest
    if client != "linux":
        check_flushes(bench, trials, server)


def check_flushes(bench: Bench, trials: pd.DataFrame, server: str) -> None:
    """Each write over SMB is flushed, as well as its server takes part, by one request, and the record says so."""
    writes = trials[(trials["protocol"] == "smb") & (trials["direction"] == "write")]
    flushed = {effective["flushed"] for effective in writes["effective"]}
    assert flushed == {"fsync (F_FULLFSYNC: Operation not supported)" if server == "linux" else "F_FULLFSYNC"}
    assert bench.inside("client", "cat /linux/run/emulated_mac_smbfs/flushes-*") == "FLUSH\n" * len(writes)
