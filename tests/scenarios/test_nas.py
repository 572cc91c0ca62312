"""`lab check` of each NAS for a share that it has, as its owner tries it."""

from collections.abc import Callable

import pytest
from support import nas
from support.local_lab import Bench, check_findings
from support.other_servers import SHARE, serve

OPEN_SHARE = "others can write into it or a folder above it"


@pytest.mark.parametrize("name", nas.NAMES)
def test_a_nas_is_ready_or_told_what_its_owner_can_do(new_bench: Callable[..., Bench], name: str) -> None:
    bench = new_bench()
    serve(bench)
    system = nas.make_nas(bench, name)
    found = check_findings(bench, nas.hosts_of(bench, system))
    assert [finding for finding in found if finding["level"] == "problem"] == []
    assert not [finding for finding in found if "could not be looked at" in finding["message"]]
    told = {finding["subject"]: finding for finding in found}
    assert f": {system['title']}, Linux " in told["server system"]["message"]
    assert told.get("server watched", {}).get("remedy", "") == system["without_perl"]
    assert (told["link MTU"]["remedy"] == "") == bool(system["without_perl"])  # nobody can raise it there
    named = check_findings(bench, nas.hosts_of(bench, system, share_path=SHARE))
    by_lab = check_findings(bench, nas.hosts_of(bench, system, share_serve="lab", share_path=None))
    assert not [finding for finding in (*found, *named, *by_lab) if "apt-get" in finding["remedy"]]
    if perl := system["without_perl"]:
        (remedy,) = [finding["remedy"] for finding in by_lab if finding["message"].startswith("perl is missing")]
        assert remedy.startswith(f"{perl}, or measure a share that it has")
    if not system["without_perl"]:  # all may write into a share of most NAS
        (problem,) = [finding for finding in named if finding["level"] == "problem"]
        assert problem["message"] == f"[share] path = {SHARE}: {OPEN_SHARE}"
        assert problem["remedy"].startswith("leave [share] path out, and the lab makes its files through the share")
