"""Emulated Macs without perl: the lab says in one sentence what is missing, and measures nothing."""

import json
from collections.abc import Callable

from support.local_lab import HOSTS, Bench

from lab.hosts.perl import NO_PERL_ON_MAC


def test_one_sentence_says_what_is_missing(new_bench: Callable[..., Bench]) -> None:
    macs = new_bench("--platform", "client=macos@26", "--platform", "server=macos@15.5")
    for host in HOSTS:
        macs.inside(host, "rm /usr/bin/perl")
    report = json.loads(macs.lab("check", "--hosts", str(macs.hosts), "--json").stdout)
    problems = [finding for finding in report["findings"] if finding["level"] == "problem"]
    assert [finding["subject"] for finding in problems] == ["client programs", "server programs"]
    assert {finding["message"] for finding in problems} == {"perl is missing: nothing can be measured without it"}
    assert {finding["remedy"] for finding in problems} == {NO_PERL_ON_MAC}
    assert not [finding for finding in report["findings"] if "could not be looked at" in finding["message"]]
    done = macs.run(protocol=["ssh"], tool=["rsync"], mtu=[9000], size="1 MiB")
    assert done.returncode == 1
    assert NO_PERL_ON_MAC in done.stderr
    done = macs.lab("host", "install", "--hosts", str(macs.hosts), "client")
    assert done.returncode == 1
    assert "the helper is a perl script, and there is no perl here" in done.stderr
