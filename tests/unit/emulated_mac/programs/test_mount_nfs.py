"""What mount_nfs of an emulated Mac prints, against what real ones printed."""

from pathlib import Path

import pytest
from support.emulated_programs import Choose

from emulated_mac.programs import mount_nfs


def test_mount_nfs_ends_with_the_error_number(
    choose: Choose, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choose(mount_nfs, "15")
    assert mount_nfs.main(["-o", "retrycnt=0,unheard-of", "127.0.0.1:/x", str(tmp_path)]) == 61
    printed = f"mount_nfs: can't mount /x from 127.0.0.1 onto {tmp_path}: Connection refused\n"
    assert capsys.readouterr().err == printed
    assert mount_nfs.main(["only"]) == 22
    assert capsys.readouterr().err == "usage: mount_nfs [-o options] server:/path directory\n"
    assert mount_nfs.main(["nocolon", str(tmp_path)]) == 22
    assert mount_nfs.main(["h:/x", str(tmp_path / "none")]) == 2
    mount_nfs.main(["-o", "vers=4.1,retrycnt=0", "127.0.0.1:/x", str(tmp_path)])
    assert "mount_nfs: illegal NFS version value -- 4.1\n" in capsys.readouterr().err
    choose(mount_nfs, "26")
    mount_nfs.main(["-o", "vers=4.1,retrycnt=0", "127.0.0.1:/x", str(tmp_path)])
    assert "illegal" not in capsys.readouterr().err
