"""What nfsd of an emulated Mac prints, against what real ones printed."""

import pytest
from support.emulated_programs import JOBS, Choose

from emulated_mac.programs import nfsd


def test_nfsd_status_by_version(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(nfsd, "10.9", services=JOBS)
    assert nfsd.main(["status"]) == 1  # not enabled, though it runs
    assert capsys.readouterr().out == "nfsd service is disabled\nnfsd is running (pid 2140, 8 threads)\n"
    choose(nfsd, "14.5", services=JOBS)
    assert nfsd.main(["status"]) == 0
    assert nfsd.main(["frobnicate"]) == 1
    assert "nfsd: unknown command: frobnicate\nusage: nfsd [-NRrtuv]" in capsys.readouterr().err
