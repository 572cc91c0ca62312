"""What launchctl of an emulated Mac prints, against what real ones printed."""

import pytest
from support.emulated_programs import JOBS, Choose, capture

from emulated_mac.programs import launchctl


def test_print_disabled_by_version(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(launchctl, "14", services=JOBS)
    assert launchctl.main(["print-disabled", "system"]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    sample = [line.strip() for line in capture("launchctl-print-disabled.txt").splitlines()]
    assert set(printed) <= set(sample)
    choose(launchctl, "12", services=JOBS)
    launchctl.main(["print-disabled", "system"])
    assert '"com.apple.smbd" => true' in capsys.readouterr().out  # APPL-12-002001 of DISA looks for that


def test_verbs_of_launchd_2_are_unknown_to_the_first(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(launchctl, "10.9", services=JOBS)
    for verb in ("enable", "bootstrap", "print", "kickstart"):
        assert launchctl.main([verb, "system/com.apple.smbd"]) == 1
    assert 'launchctl: unknown subcommand "enable"' in capsys.readouterr().err
    assert launchctl.main(["list", "com.apple.smbd"]) == 1
    assert "launchctl list returned unknown response" in capsys.readouterr().err


def test_a_job_that_is_not_loaded_is_not_found(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(launchctl, "12", services=JOBS)
    assert launchctl.main(["print", "system/com.apple.smbd"]) == 113
    assert capsys.readouterr().err == 'Could not find service "com.apple.smbd" in domain for system\n'
    assert launchctl.main(["print", "system/com.apple.nfsd"]) == 0
    assert "\tpid = 2140\n" in capsys.readouterr().out
