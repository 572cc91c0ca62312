"""What smbutil of an emulated Mac prints, against what real ones printed."""

import re

import pytest
from support.emulated_programs import Choose, capture

from emulated_mac.programs import smbutil

STATSHARES = {
    "target": "/private/tmp/m", "source": "//u@20.50.1.20/SharedDir", "type": "smbfs", "share": "SharedDir",
    "server": "20.50.1.20", "user_id": 501, "dialect": "SMB_3.1.1", "capabilities": 0b101111, "signing": 1,
    "cipher": 1, "required": False, "signed": False, "options": [],
}  # fmt: skip


def test_statshares_prints_what_a_mac_prints(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(smbutil, "15", mounts=[STATSHARES], share_facts={})
    assert smbutil.main(["statshares", "-a"]) == 0
    printed, sample = capsys.readouterr().out.splitlines(), capture("smbutil-statshares-15.txt").splitlines()
    # whether a server has file ids is not in what it negotiates; and that client knew one cipher alone
    assert [line for line in sample if line not in printed] == [f"{'':30}{'FILE_IDS_SUPPORTED':30}TRUE"]
    known = [line for line in printed if line in sample]
    assert known[: len(sample) - 1] == [line for line in sample if "FILE_IDS" not in line]


def test_statshares_by_version(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(smbutil, "10.13", mounts=[STATSHARES | {"dialect": "SMB_3.0.2"}], share_facts={})
    smbutil.main(["statshares", "-a"])
    text = capsys.readouterr().out
    assert re.search(r" SMB_VERSION +SMB_3\.02\n", text)
    assert "ALGORITHM" not in text
    assert smbutil.main(["statshares", "-a", "-f", "Json"]) == 1
    choose(smbutil, "10.6", mounts=[], share_facts={})
    assert smbutil.main(["statshares", "-a"]) == 64


def test_statshares_refuses_what_is_no_share(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(smbutil, "15", mounts=[], share_facts={})
    assert smbutil.main(["statshares", "-m", "/nowhere"]) == 22
    assert smbutil.main(["statshares"]) == 1
    assert smbutil.main(["statshares", "-a", "-m", "/"]) == 1
    assert "usage : smbutil statshares [-m <mount_path> | -a] [-f <format>]" in capsys.readouterr().err
