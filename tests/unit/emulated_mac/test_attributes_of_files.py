"""Attributes of files on an emulated Mac, over files of this machine: set, shown and refused as a Mac does it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from emulated_mac import access_lists, attributes, carried, long_list
from emulated_mac.attributes import Attributes
from emulated_mac.programs import chflags, stat, xattr

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a disk, and in it ``share``, which is mounted by NFS."""
    records, folder = tmp_path / "records", tmp_path / "disk"
    for path in (records, folder, folder / "share"):
        path.mkdir()
    monkeypatch.setattr(attributes, "RECORDS", str(records))
    mounts = [{"target": "/", "type": "apfs"}, {"target": str((folder / "share").resolve()), "type": "nfs"}]
    monkeypatch.setattr(attributes, "call", lambda name: mounts)
    monkeypatch.chdir(folder)
    for name in ("f", "share/f"):
        Path(name).write_text("probe")
    return folder


@pytest.fixture
def type_(here: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Runs a program there: its exit code, output and errors."""

    def run(main: Callable[[list[str]], int], *words: str) -> tuple[int, str, str]:
        try:
            code = main(list(words))
        except SystemExit as end:
            code = int(str(end.code or 0))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_xattr_writes_and_removes_also_of_a_link_itself(type_: Typed) -> None:
    assert type_(xattr.main, "-w", "user.probe", "hello", "f") == (0, "", "")
    assert attributes.read("f").xattrs == {"user.probe": b"hello"}
    assert os.listxattr("f") == []  # Linux sees nothing of it
    assert type_(xattr.main, "-w", "-x", "com.apple.FinderInfo", "5445 58 54" + "00" * 28, "f")[0] == 0
    assert attributes.read("f").xattrs["com.apple.FinderInfo"] == b"TEXT" + bytes(28)
    assert type_(xattr.main, "-d", "user.probe", "f")[0] == 0
    assert list(attributes.read("f").xattrs) == ["com.apple.FinderInfo"]
    assert type_(xattr.main, "-c", "f")[0] == 0
    assert attributes.read("f").xattrs == {}
    Path("link").symlink_to("f")
    assert type_(xattr.main, "-s", "-w", "a", "b", "link")[0] == 0
    assert attributes.read("link", follow=False).xattrs == {"a": b"b"}
    assert attributes.read("f").xattrs == {}


@pytest.mark.parametrize(
    ("words", "code", "output", "error"),
    [
        (("-p", "nope", "f"), 1, "", "xattr: f: No such xattr: nope\n"),
        (("-p", "nope", "absent"), 1, "", "xattr: No such file: absent\n"),
        (("-w", "com.apple.FinderInfo", "abc", "f"), 1, "", "xattr: [Errno 34] Result too large: 'f'\n"),
        (("-w", "n" * 128, "abc", "f"), 1, "", "xattr: [Errno 63] File name too long: 'f'\n"),
        (("-w", "a", "b"), 1, "Not enough arguments for option -w. Expected at least 3 but got 2\n\nusage: xattr", ""),
        (("-q", "f"), 1, "\n\nusage: xattr", "xattr: illegal option -- q\n"),
        (("-wp", "a", "b", "f"), 1, "Cannot specify -p with -w\n\nusage: xattr", ""),
        (("-lw", "a", "b", "f"), 1, "-l is not allowed with -w or -d\n\nusage: xattr", ""),
        (("-h",), 0, "usage: xattr [-l] [-r] [-s] [-v] [-x] file", ""),
    ],
)
def test_xattr_refuses_as_a_mac_does(type_: Typed, words: tuple[str, ...], code: int, output: str, error: str) -> None:
    result = type_(xattr.main, *words)
    assert (result[0], result[2]) == (code, error)
    assert result[1].startswith(output)


def test_values_are_shown_as_text_and_as_digits(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    attributes.set_xattr("f", "a", b"0123456789abcdefg\0")
    for words, printed in {
        ("f",): b"a\n",
        ("-l", "f"): b"a: 0123456789abcdefg\n",
        ("-p", "a", "f"): b"0123456789abcdefg\n",
        ("-px", "a", "f"): b"30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66 \n67 00 \n",
    }.items():
        xattr.main(list(words))
        assert capsysbinary.readouterr().out == printed


def test_on_a_share_an_attribute_is_an_apple_double_file(here: Path, type_: Typed) -> None:
    assert type_(xattr.main, "-w", "a", "b", "share/f")[0] == 0
    assert Path("share/._f").read_bytes()[:4] == b"\x00\x05\x16\x07"
    assert attributes.read("share/f").xattrs == {"a": b"b"}
    assert type_(chflags.main, "hidden", "share/f") == (1, "", "chflags: share/f: Operation not supported\n")
    refused = "chmod: Failed to set ACL on file 'share/f': Operation not supported\n"
    assert type_(access_lists.main, "+a", "user:daemon allow read", "share/f") == (1, "", refused)
    assert type_(access_lists.main, "-N", "share/f")[0] == 0
    type_(xattr.main, "-c", "share/f")
    assert not Path("share/._f").exists()


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("bogus", "f"), 1, "chflags: invalid flag: bogus\n"),
        (("hidden,bogus", "f"), 1, "chflags: invalid flag: bogus\n"),
        (("9", "f"), 1, "chflags: invalid flags: 9\n"),
        (("hidden", "absent"), 1, "chflags: absent: No such file or directory\n"),
        (("-f", "hidden", "absent"), 0, ""),
        (("hidden",), 1, "usage: chflags [-fhvx] [-R [-H | -L | -P]] flags file ...\n"),
        (("uchg", "f"), 125, "EMULATED MAC: chflags: uchg is not emulated\n"),
        (("-Rh", "hidden", "f"), 1, "chflags: the -R and -h options may not be specified together.\n"),
        (("nouchg", "f"), 0, ""),  # which it is not
    ],
)
def test_chflags_refuses_as_a_mac_does(type_: Typed, words: tuple[str, ...], code: int, error: str) -> None:
    assert type_(chflags.main, *words) == (code, "", error)


def test_flags_are_set_shown_and_taken_off_and_the_birth_time_goes_back_with_the_mtime(type_: Typed) -> None:
    type_(chflags.main, "hidden,nodump", "f")
    assert type_(stat.main, "-f", "%f %Xf", "f")[1] == "32769 8001\n"
    type_(chflags.main, "nohidden", "f")
    assert type_(stat.main, "-f", "%f", "f")[1] == "1\n"
    born = attributes.birth_ns("f")
    os.utime("f", (1e9, 1e9))
    attributes.note_birth("f")
    os.utime("f", (2e9, 2e9))
    assert attributes.birth_ns("f") == 10**18 < born


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("user:nosuch allow read", "Unable to translate 'nosuch' to a UUID"),
        ("user:daemon permit read", "Unknown tag type 'permit'"),
        ("user:daemon allow fly", "Invalid permission type 'fly'"),
        ("user:daemon allow ", "No permissions specified"),
        ("user:daemon", "Invalid entry format -- expected allow or deny"),
    ],
)
def test_chmod_refuses_entries_as_a_mac_does(type_: Typed, entry: str, error: str) -> None:
    assert type_(access_lists.main, "+a", entry, "f") == (1, "", f"chmod: {error}\n")


def test_a_list_is_in_its_order_and_names_rights_as_the_object_has_them(type_: Typed) -> None:
    for entry in ("daemon allow write,read,append", "group:daemon deny execute", "daemon allow write,read,append"):
        assert type_(access_lists.main, "+a", entry, "f")[0] == 0
    assert attributes.read("f").acl == ["group:daemon deny execute", "user:daemon allow read,write,append"]
    type_(access_lists.main, "+a", "daemon allow read,write,file_inherit", "share/..")
    assert attributes.read(".").acl == ["user:daemon allow list,add_file,file_inherit"]
    type_(access_lists.main, "-N", "f")
    assert attributes.read("f").acl == []


def test_ls_shows_flags_attributes_and_the_list(here: Path, type_: Typed) -> None:
    attributes.write("f", Attributes({"a": b"b"}, ["user:daemon allow read"], 0x8001))
    code, output, _ = type_(long_list.main, "eO@", "f", "/bin/ls", "-l", "-d", "f")
    first, second, third = output.splitlines()
    assert (code, first[:4], first[10], " nodump,hidden 5 " in first) == (0, "-rw-", "@", True)
    assert (second.split(), third) == (["a", "1"], " 0: user:daemon allow read")


def test_cp_carries_attributes_and_with_p_lists_flags_and_dates(here: Path) -> None:
    Path("tree").mkdir()
    Path("tree/file").write_text("x")
    attributes.write("tree/file", Attributes({"a": b"b"}, ["user:daemon allow read"], 0x8000))
    for call, words in {"cp": ("-R",), "cp-p": ("-R", "-p")}.items():
        assert carried.main([call, "/bin/cp", *words, "--", "tree", call]) == 0
        copy = attributes.read(f"{call}/file")
        assert copy.xattrs == {"a": b"b"}
        assert (copy.acl, copy.flags) == ((["user:daemon allow read"], 0x8000) if call == "cp-p" else ([], 0))


def test_there_and_back_over_a_share_no_file_of_the_attributes_is_left(here: Path) -> None:
    """cp leaves out a ``._NAME`` whose NAME there is, and unpacks it (file_cmds: cp/cp.c)."""
    Path("tree").mkdir()
    Path("tree/file").write_text("x")
    attributes.write("tree/file", Attributes({"a": b"b"}))
    assert carried.main(["cp", "/bin/cp", "-R", "--", "tree", "share"]) == 0
    assert sorted(path.name for path in Path("share/tree").iterdir()) == ["._file", "file"]
    assert carried.main(["cp", "/bin/cp", "-R", "--", "share/tree", "back"]) == 0
    assert [path.name for path in Path("back").iterdir()] == ["file"]
    assert attributes.read("back/file").xattrs == {"a": b"b"}


def test_rsync_gathers_at_one_end_and_spreads_at_the_other(here: Path) -> None:
    attributes.write("f", Attributes({"a": b"b"}, ["user:daemon allow read"], 0x8000))
    Path("copy").write_text("probe")
    assert carried.spread(carried.gather("f"), "copy", carried.CALLS["rsync-E"]) == 0
    copy = attributes.read("copy")
    assert (copy.xattrs, copy.acl, copy.flags) == ({"a": b"b"}, ["user:daemon allow read"], 0)  # -E has no flags
    assert carried.copy_of("a/b/", "t", "rsync-E", into=True) == "t"
    assert carried.copy_of("a/b", "t", "rsync-E", into=True) == "t/b"
