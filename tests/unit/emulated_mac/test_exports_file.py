"""/etc/exports is read as mountd of a Mac reads it, with its messages."""

import pytest
from support.emulated_programs import capture

from emulated_mac import exports_file


def volume_of(path: str) -> str:
    return "/Volumes/lab" if path.startswith("/Volumes/lab") else "/System/Volumes/Data"


def errors_of(text: str) -> list[str]:
    return exports_file.parse(text, volume_of)[1]


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that are there."""
    there = ("/Users/rfay", "/Users/rfay/workspace", "/Volumes/lab", "/Volumes/lab/a")
    monkeypatch.setattr(exports_file, "_is_plain_folder", lambda path: path in there)


@pytest.mark.usefixtures("folders")
def test_exports_are_read_as_nfsd_reads_them() -> None:
    text = "# none\n/Volumes/lab -alldirs -fspath=/Volumes/lab \\\n  -mapall=501:20 -network 10.0.0.0 -mask 255.0.0.0\n"
    (one,), errors = exports_file.parse(text, volume_of)
    assert (errors, one.paths, one.all_dirs, one.map_all, one.uid, one.gid) == (
        [],
        ["/Volumes/lab"],
        True,
        True,
        501,
        20,
    )
    assert (one.network, one.mask, one.line) == ("10.0.0.0", "255.0.0.0", 3)
    (one,), errors = exports_file.parse("/Volumes/lab -mapall=0\n", volume_of)  # a user alone brings its own group
    assert (errors, one.hosts, one.map_all, one.uid, one.gid) == ([], [], True, 0, 0)


@pytest.mark.usefixtures("folders")
def test_what_is_wrong_with_exports_is_said_as_nfsd_says_it() -> None:
    assert (
        errors_of("#\n/Users/rfay -alldirs -mapall=501:20 localhost\n")
        == capture("nfsd-checkexports-10.15.txt").splitlines()
    )
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
