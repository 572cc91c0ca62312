"""nsmb.conf chooses the dialects of SMB that are offered."""

from pathlib import Path

import pytest

from emulated_mac import nsmb_conf
from emulated_mac.servers import smb


def test_preferences_choose_the_dialects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsmb_conf, "GLOBAL", tmp_path / "nsmb.conf")
    personal = tmp_path / nsmb_conf.PERSONAL
    personal.parent.mkdir(parents=True)
    personal.write_text("[default]\nsigning_required=yes\nprotocol_vers_map=7\n[OTHER]\nprotocol_vers_map=2\n")
    nsmb_conf.GLOBAL.write_text("[SERVER]\nprotocol_vers_map=4\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    preferences = nsmb_conf.Preferences("server")
    assert preferences.is_on("signing_required")
    assert not preferences.wants_multichannel((11, 2))
    assert preferences.wants_multichannel((11, 3))
    assert nsmb_conf.dialects((15, 5), preferences.versions((15, 5))) == ["SMB_3.0", "SMB_3.0.2", "SMB_3.1.1"]
    assert nsmb_conf.dialects((10, 9, 5), preferences.versions((10, 9, 5))) == ["SMB_2.002", "SMB_2.1"]
    assert nsmb_conf.dialects((10, 6, 8), preferences.versions((10, 6, 8))) == []
    assert "max protocol = NT1" in nsmb_conf.samba_conf([], signed=False)
    assert smb.dialects((10, 6, 8)) == ("NT1", "NT1")
    assert smb.dialects((10, 9, 5)) == ("NT1", "SMB2_10")
    assert smb.dialects((10, 13, 6)) == ("SMB2_02", "SMB3_02")
