"""What a Mac's commands print of its attributes, by hand after file_cmds (xattr/xattr.c, ls/print.c); what is read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.fake_host import FakeHost

from lab.fidelity import on_host_macos
from lab.fidelity.on_host_macos import OWN, parse_access_list, parse_hex
from lab.fidelity.probed_host import PYTHON, ProbedHost
from lab.fidelity.probes import MACOS, PROBES, RESOURCE_FORK, laid_on

HEX = "54 45 58 54 74 74 78 74 08 0C 00 00 00 00 00 00 \n00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \n"
LISTED = """\
drwxr-xr-x@ 3 lab  staff  96 Nov 26 07:01 /private/tmp/ 0: x
\tcom.apple.FinderInfo\t  32 
 0: group:admin deny execute
 1: user:daemon inherited allow list,search,file_inherit,directory_inherit
"""  # noqa: W291 – as ls prints it
MOUNTED = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk4 on /Volumes/a (b) c (hfs, local, nodev, nosuid, mounted by lab)
"""


def answering(monkeypatch: pytest.MonkeyPatch, printed: str) -> list[tuple[str | bytes, ...]]:
    """Let every command print this; returns the commands."""
    calls: list[tuple[str | bytes, ...]] = []

    def run(*words: str | bytes) -> str:
        calls.append(words)
        return printed

    monkeypatch.setattr(on_host_macos, "_run", run)
    return calls


def test_what_commands_print_is_parsed() -> None:
    assert parse_hex(HEX)[:10] == b"TEXTttxt\x08\x0c"
    assert parse_hex("") == b""
    inherited = "user:daemon inherited allow list,search,file_inherit,directory_inherit"
    assert parse_access_list(LISTED) == ["group:admin deny execute", inherited]
    host = FakeHost()
    for point, kind in {"/": "apfs", "/Volumes/a (b) c": "hfs", "/Volumes/a": ""}.items():
        host.on(("mount",), MOUNTED)
        host.on(("df", "-P", point), f"Filesystem 512-blocks Used\n/dev/disk4 9 1 8 12% {point}\n")
        assert ProbedHost(host, "macos").name_file_system(point) == kind


def test_a_probe_of_finder_info_reads_its_own_part(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, HEX)
    read = OWN["finder"][1]
    assert [read(b"/f", key) for key in ("type", "flags", "label")] == ["TEXTttxt", "0800", "6"]
    answering(monkeypatch, "00 " * 8 + "08 00 ")
    for key in ("type", "label"):
        with pytest.raises(OSError, match="Errno 61"):
            read(b"/f", key)


def test_attributes_are_set_by_the_commands_of_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = answering(monkeypatch, "")
    for probe in laid_on(MACOS):
        if probe.attribute in ("xattr", "finder", "acl", "flag"):
            OWN[probe.attribute][0](b"/f", probe.key, probe.value)
    assert ("xattr", "-s", "-w", "user.probe", "", b"/f") in calls
    assert ("xattr", "-s", "-w", "com.apple.quarantine", "0081;3b9aca00;lab;", b"/f") in calls
    assert ("xattr", "-s", "-w", "-x", "com.apple.ResourceFork", RESOURCE_FORK[2:], b"/f") in calls
    assert ("chmod", "+a", "group:admin deny execute", b"/f") in calls
    assert ("chflags", "-h", "hidden", b"/f") in calls
    infos = [words[4] for words in calls if words[3] == "com.apple.FinderInfo"]
    assert [len(info) for info in infos] == [64] * 3  # setxattr(2) takes 32 bytes alone
    # Linux, where emulated Macs are, takes no word of 128 KiB; a Mac takes 1 MiB of all of them
    assert max(len(word) for words in calls for word in words) < 128 * 1024


@pytest.mark.parametrize(
    ("message", "is_none"),
    [("xattr: f: No such xattr: a", True), ("xattr: [Errno 13] Permission denied: 'f'", False)],
)
def test_what_a_command_says_tells_none_from_an_error(tmp_path: Path, message: str, is_none: bool) -> None:
    script = tmp_path / "xattr"
    script.write_text(f'#!/bin/sh\necho "{message}" >&2\nexit 1\n')
    script.chmod(0o755)
    with pytest.raises(OSError, match="xattr") as failed:
        on_host_macos._run(os.fsencode(script))
    assert (failed.value.errno == 61) == is_none  # ENODATA of Linux


def test_birth_is_set_by_an_mtime_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    probe = next(probe for probe in PROBES if probe.name == "birth")
    answering(monkeypatch, "1000000000\n")
    OWN["birth"][0](os.fsencode(file), probe.key, probe.value)
    assert file.stat().st_mtime == 1_100_000_000
    answering(monkeypatch, "1795676348\n")
    with pytest.raises(OSError, match="does not go back"):
        OWN["birth"][0](os.fsencode(file), probe.key, probe.value)


@pytest.mark.parametrize(("selected", "code"), [("tools", 0), ("nowhere", 72)])
def test_python_is_that_of_the_developer_tools_alone(tmp_path: Path, selected: str, code: int) -> None:
    """Whatever the PATH has, and whatever DEVELOPER_DIR says: root runs it, too."""
    python, bin_ = tmp_path / "tools/usr/bin/python3", tmp_path / "bin"
    for path, text in {
        python: f'exec "{sys.executable}" "$@"',
        bin_ / "python3": "echo another; exit 0",
        bin_ / "xcode-select": f'echo "${{DEVELOPER_DIR:-{tmp_path}/{selected}}}"',
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    words = [*PYTHON[MACOS], "import sys; print(sys.argv[1])", "one word"]
    environment = {"PATH": f"{bin_}:/usr/bin:/bin", "DEVELOPER_DIR": str(tmp_path)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "one word\n" if code == 0 else "")
