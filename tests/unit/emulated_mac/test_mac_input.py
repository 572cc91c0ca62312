"""Command lines, options, URLs and files are read as a Mac's programs read them."""

import re
from pathlib import Path

import pytest
from support.emulated_programs import capture

from emulated_mac import bsd_getopt, exports_file, mount_options, nsmb_conf, smb_url
from emulated_mac.mount_options import Refused
from emulated_mac.servers import smb


def test_options_end_at_the_first_word_that_is_none_and_those_of_a_mount_are_its_flags() -> None:
    options, rest = bsd_getopt.parse("x", ["-ab", "v", "-c", "w", "-a"], "ab:c", "usage")
    assert (options, rest) == ([("a", ""), ("b", "v"), ("c", "")], ["w", "-a"])
    standard, others = mount_options.parse("nobrowse,soft,ro", {"soft": False})
    assert (mount_options.flags(standard, 501), others) == (["nodev", "nosuid", "read-only", "nobrowse"], {"soft": ""})
    assert mount_options.flags(standard, 0) == ["read-only", "nobrowse"]
    with pytest.raises(Refused, match="-o sync: option not supported"):
        mount_options.parse("sync", {})


def test_a_url_is_decoded_and_shown_without_its_password() -> None:
    url = smb_url.parse("//DOM;me%40x:p%3Aw@server/My%20Share")
    assert (url.domain, url.user, url.password, url.server, url.share) == ("DOM", "me@x", "p:w", "server", "My Share")
    assert url.source == "//DOM;me%40x@server/My%20Share"
    url = smb_url.parse("//lab@[fd00:77::2]/ram")
    assert (url.server, url.source) == ("fd00:77::2", "//lab@[fd00:77::2]/ram")
    assert url.uri() == "smb://WORKGROUP;lab@fd00%3A77%3A%3A2/ram"
    assert smb_url.parse("//lab@[fe80::2%25en0]:445/ram").uri() == "smb://WORKGROUP;lab@fe80%3A%3A2%25en0/ram"
    odd = ("//lab@fd00:77::2/ram", "//lab@[fd00:77::2/ram", "//lab@[nas]/ram")
    for bad in ("server/share", "//", "//a/b@c/d@e", "nfs://x/y", *odd):
        with pytest.raises(ValueError, match=re.escape(bad)):
            smb_url.parse(bad)


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


def volume_of(path: str) -> str:
    return "/Volumes/lab" if path.startswith("/Volumes/lab") else "/System/Volumes/Data"


def errors_of(text: str) -> list[str]:
    return exports_file.parse(text, volume_of, (15, 5))[1]


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = ("/Users/rfay", "/Users/rfay/workspace", "/Volumes/lab", "/Volumes/lab/a")
    monkeypatch.setattr(exports_file, "_is_plain_folder", lambda path: path in folders)


@pytest.mark.usefixtures("folders")
def test_exports_are_read_as_nfsd_reads_them() -> None:
    text = "# none\n/Volumes/lab -alldirs -fspath=/Volumes/lab \\\n  -mapall=501:20 -network 10.0.0.0 -mask 255.0.0.0\n"
    (export,), errors = exports_file.parse(text, volume_of, (15, 5))
    assert (errors, export.paths, export.all_dirs) == ([], ["/Volumes/lab"], True)
    assert (export.map_all, export.uid, export.gid) == (True, 501, 20)
    assert (export.network, export.mask, export.line) == ("10.0.0.0", "255.0.0.0", 3)
    (export,), errors = exports_file.parse(
        "/Volumes/lab -mapall=0\n", volume_of, (15, 5)
    )  # a user alone brings its own group
    assert (errors, export.hosts, export.map_all, export.uid, export.gid) == ([], [], True, 0, 0)


@pytest.mark.usefixtures("folders")
def test_what_is_wrong_with_exports_is_said_as_nfsd_says_it() -> None:
    errors = errors_of("#\n/Users/rfay -alldirs -mapall=501:20 localhost\n")
    assert errors == capture("nfsd-checkexports-10.15.txt").splitlines()
    assert errors_of("/x -ro\n") == [
        "exports:1: path contains non-directory or non-existent components: /x",
        "exports:1: no usable directories in export entry and no fallback",
    ]
    hosts = "/Volumes/lab -network 10.0.0.0 -mask 255.0.0.0 host\n"
    assert errors_of(hosts) == ["exports:1: can't specify both network and hosts on same line"]
    nested = "/Volumes/lab -ro\n/Volumes/lab/a\n"
    assert errors_of(nested) == ["exports:2: /Volumes/lab/a conflicts with existing export /Volumes/lab"]
    assert errors_of("/Volumes/lab -frob\n") == ["exports:1: error processing options: -frob"]
    assert errors_of("-ro /Volumes/lab\n") == ["exports:1: got options with no exported directory: -ro"]


@pytest.mark.usefixtures("folders")
def test_networks_of_ipv6_came_with_10_7() -> None:
    text = "/Volumes/lab -mapall=501:20 -network fd00:77:: -mask ffff:ffff:ffff:ffff::\n"
    (export,), errors = exports_file.parse(text, volume_of, (10, 7))
    assert (errors, export.network, export.mask) == ([], "fd00:77::", "ffff:ffff:ffff:ffff::")
    refused = "exports:1: error processing options: -network=fd00:77::"
    assert exports_file.parse(text, volume_of, (10, 6, 8)) == ([], [refused])
    assert errors_of("/Volumes/lab -network fd00:77:: -mask 255.0.0.0\n") == [refused]
