"""What nfsstat of an emulated Mac prints, against what real ones printed."""

import pytest
from support.emulated_programs import Choose, capture

from emulated_mac.programs import nfsstat


def test_nfsstat_prints_what_a_mac_prints(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "tcp,port=53771,mountport=53771,soft,intr,locallocks,rsize=131072,wsize=131072,timeo=600,retrans=2,nfc"
    own = dict(word.partition("=")[::2] for word in f"{asked},rdirplus".split(","))
    current = {"port": 53771, "mountport": 53771, "rsize": 131072, "wsize": 131072, "dsize": 8192}
    mount = {
        "target": "/Users/x/Cloud", "source": "localhost:/", "type": "nfs", "flags": ["nodev", "nosuid"],
        "host": "localhost", "address": "::1,127.0.0.1", "path": "/", "asked": own, "current": current,
        "standard_shown": [],
    }  # fmt: skip
    choose(nfsstat, "12", mounts=[mount], share_facts={"/Users/x/Cloud": {}})
    assert nfsstat.main(["-m"]) == 0
    printed = capsys.readouterr().out.replace(",rdirplus,timeo=600", ",timeo=600").replace("sec=sys", "sec=none:sys")
    sample = capture("nfsstat-m-12.txt").replace("/ @", "/ @")
    assert printed.replace("     Status flags: 0x0\n\n", "") == sample


def test_nfsstat_knows_mounts_alone(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(nfsstat, "10.9", mounts=[], share_facts={})
    assert nfsstat.main(["-f", "JSON", "-m"]) == 1
    assert nfsstat.main(["-s"]) == 1
    assert nfsstat.main(["-m"]) == 0
