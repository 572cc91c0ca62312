"""The scripts that hosts get, run here: what is laid is read, and what a tool drops is missed."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from lab.fidelity import on_host_linux, on_host_macos, on_host_probes, probed_host
from lab.fidelity.copies import Reading
from lab.fidelity.probed_host import COPIES_SCRIPT, FUTURE, PROBES_SCRIPTS, Copied, CopyCall, Snapshot
from lab.fidelity.probes import ALL, LINUX, MACOS, PROBES, laid_on

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the script sets attributes of Linux")
REQUESTS = list(map(asdict, laid_on(LINUX)))
# What any account may set, on any file system of this machine
ANYBODYS = ("data", "mode-private", "mtime-nanoseconds", "link-above", "hard-link", "fifo", "name-case", "name-newline")


def ask(script: str, action: str, request: dict[str, Any]) -> str:
    """What a host does with a script, under the locale that it has."""
    words = [sys.executable, "-IBS", "-c", script, action]
    done = subprocess.run(words, input=json.dumps(request), capture_output=True, text=True, env={"LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(folder: Path) -> Snapshot:
    printed = ask(PROBES_SCRIPTS[LINUX], "read", {"root": str(folder), "probes": REQUESTS})
    return probed_host.parse_snapshot(printed, laid_on(LINUX))


def lay(folder: Path) -> Path:
    request = {"root": str(folder), "owner": "", "probes": REQUESTS}
    refused = probed_host.parse_failures(ask(PROBES_SCRIPTS[LINUX], "lay", request))
    assert "Linux cannot set it" in refused["birth"]
    assert not set(refused) & set(ANYBODYS)
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay(tmp_path_factory.mktemp("probes") / "source")


def test_what_was_laid_is_read(source: Path) -> None:
    readings = read(source).readings
    assert {name: readings[name].state for name in ANYBODYS} == dict.fromkeys(ANYBODYS, "value")
    texts = ("0600", "1000000000.123456789", "../../..", "one file", "fifo", '["NAME", "name"]', '["a\\nb"]')
    assert tuple(readings[name].text for name in ANYBODYS[1:]) == texts
    assert (source / "data" / "object").stat().st_size == 1 << 20


def test_each_object_has_one_attribute(source: Path) -> None:
    """Another attribute of the object would be lost with it."""
    snapshot = read(source)
    modes = [oct((source / name / "object").stat().st_mode & 0o7777) for name in ("xattr-small", "plain-file")]
    assert modes[0] == modes[1]
    assert snapshot.plain["mtime-nanoseconds"] != snapshot.readings["mtime-nanoseconds"]
    assert snapshot.plain["mode-private"].text == "0644"


def copied(source: Path, target: Path, *argv: str, **more: object) -> Copied:
    names = [*ANYBODYS, "mtime-seconds"]
    call = asdict(CopyCall(argv, str(source), str(target), names, onto=False, remote=False, alive=str(source)))
    return probed_host.parse_copied(ask(COPIES_SCRIPT, "copy", call | {"deadline_s": 20} | more))


def test_cp_a_keeps_times_and_cp_does_not(source: Path, tmp_path: Path) -> None:
    original = read(source).readings
    for name, argv in {"cp": ["cp", "-R"], "cp-a": ["cp", "-a"]}.items():
        failures = copied(source, tmp_path / name, *argv).failures
        assert not set(failures) & {"data", "mtime-seconds"}
        snapshot = read(tmp_path / name)
        assert (snapshot.readings["mtime-seconds"] == original["mtime-seconds"]) == (name == "cp-a")
        assert snapshot.readings["data"] == original["data"]


def test_an_error_is_that_of_its_probe(source: Path, tmp_path: Path) -> None:
    script = 'case $1 in */fifo) echo "mkfifo: no" >&2; exit 3;; esac; cp -a "$1" "$2"'
    failures = copied(source, tmp_path / "target", "sh", "-c", script, "sh").failures
    assert (failures["fifo"], "data" in failures) == ("mkfifo: no", False)


def test_a_copy_stops_where_the_mount_ends(source: Path, tmp_path: Path) -> None:
    (mount := tmp_path / "mount").mkdir()
    script = f'case $1 in */data) rmdir "{mount}"; exit 1;; esac; cp -a "$1" "$2"'
    stopped = copied(source, tmp_path / "target", "sh", "-c", script, "sh", alive=str(mount))
    assert (stopped.stopped, set(stopped.failures)) == ("data", {"data"})


def test_what_is_gone_is_an_error_and_no_loss(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="FileNotFoundError"):
        read(tmp_path / "no such mount")


def test_a_folder_of_names_that_cannot_be_read_is_an_error_and_no_loss(tmp_path: Path) -> None:
    folder = lay(tmp_path / "source")
    for name in ("name-nfc", "name-nfd"):
        shutil.rmtree(folder / name)
    (folder / "name-nfc").symlink_to("name-nfc")
    readings = read(folder).readings
    assert readings["name-nfc"] == Reading("error", "Too many levels of symbolic links")
    assert readings["name-nfd"].state == "missing"


def test_copies_that_do_not_end_are_given_up(source: Path, tmp_path: Path) -> None:
    names = ["data", "fifo", "link", "hard-link"]
    failures = copied(source, tmp_path / "t", "sh", "-c", "sleep 60", names=names, alive="", deadline_s=0.1).failures
    messages = (failures["data"], failures["hard-link"])
    assert messages == ("did not end within 0.1 s", "not tried: copies before it did not end")


def test_files_left_behind_are_counted_and_are_no_names_of_a_probe(tmp_path: Path) -> None:
    """But a name that looks like such a file is a name where it was laid."""
    source = lay(tmp_path / "source")
    before = read(source)
    assert (before.readings["name-apple-double"].text, before.debris) == ('["._note"]', {})
    (source / "data" / "._object").touch()
    (source / "name-nfc" / "._café").touch()
    (source / ".DS_Store").touch()
    snapshot = read(source)
    assert snapshot.debris == {"._": 2, ".DS_Store": 1}
    assert snapshot.readings["name-nfc"].text == '["caf\\u00e9"]'


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_lays_owners_lists_and_attributes(source: Path) -> None:
    readings = read(source).readings
    texts = (readings["owner"].text, readings["acl-user"].text)
    assert texts == ("54321", "u::6,u:54321:4,g::4,m::4,o::4")


def test_each_probe_has_a_name_of_its_own_and_something_to_read() -> None:
    assert set(on_host_macos.OWN) - set(on_host_linux.OWN) == {"finder"}
    assert not (on_host_probes.ATTRIBUTES.keys() & on_host_macos.OWN.keys())
    names = [probe.name for probe in ALL]
    assert len(set(names)) == len(names)
    for platform, own in ((LINUX, on_host_linux.OWN), (MACOS, on_host_macos.OWN)):
        known = on_host_probes.ATTRIBUTES.keys() | own.keys()
        assert [probe.name for probe in laid_on(platform) if not probe.names and probe.attribute not in known] == []
    assert len(PROBES) >= 60
    assert all(bool(probe.names) == probe.name.startswith("name-") for probe in ALL)


def test_no_annotation_is_evaluated_because_macs_have_python_3_9() -> None:
    assert all(script.startswith(FUTURE) for script in (COPIES_SCRIPT, *PROBES_SCRIPTS.values()))
