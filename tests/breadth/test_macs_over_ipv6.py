"""Sweeps over IPv6 with an emulated Mac at one end of the link: nothing is refused, and nothing is left."""

from collections.abc import Callable

import pytest
from support.dual_stack import ADDRESSES, add_addresses, hosts_at
from support.local_lab import HOSTS, Bench, check_findings, findings_at
from support.macs import await_, state

SHOW = "ifconfig en0 | sed -n 's/.*inet6 \\(fe80[^ ]*\\) .*/\\1/p'"
LINK_LOCAL = await_("ifconfig en0 | grep -q 'inet6 fe80'") + f"; {SHOW}"  # it comes a moment after the link


@pytest.mark.parametrize(("client", "server"), [("macos@15.5", "linux"), ("linux", "macos@10.13")])
def test_a_mac_is_measured_over_ipv6(new_bench: Callable[..., Bench], client: str, server: str) -> None:
    """The path is proved with packets of both MTUs, and every protocol that the Mac has moves its bytes."""
    bench = new_bench("--platform", f"client={client}", "--platform", f"server={server}")
    add_addresses(bench)
    hosts = hosts_at(bench, ADDRESSES)
    findings = check_findings(bench, hosts)
    assert findings_at(findings, "problem") == []
    assert any(message.startswith("packets of MTU 1500 cross it") for _, message in findings_at(findings, "ok"))
    before = state(bench, (client, server))
    protocols = ["afp", "nfs", "smb", "ssh"]
    trials = bench.measure(hosts=hosts, protocol=protocols, tool=["rsync"], mtu=[1500, 9000], size="1 MiB")
    assert {(trial["protocol"], trial["verified"]) for trial in trials} == {(name, True) for name in protocols}
    assert {trial["effective"]["client_mtu"] for trial in trials} == {"1500", "9000"}
    assert state(bench, (client, server)) == before


def test_macs_are_measured_at_addresses_of_one_link(new_bench: Callable[..., Bench]) -> None:
    """What needs a zone is given the Mac's own: all but nfsd, which compares addresses without."""
    macs = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@10.13")
    hosts = hosts_at(macs, {host: macs.inside(host, LINK_LOCAL).strip() for host in HOSTS})
    trials = macs.measure(hosts=hosts, protocol=["afp", "smb", "ssh"], tool=["rsync"], direction=["write"])
    assert {trial["status"] for trial in trials} == {"ok"}
    message = macs.refused_run(1, hosts=hosts, protocol=["nfs"])
    assert "nfsd cannot serve at fe80:" in message
