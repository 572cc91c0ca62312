"""Where the hosts file is written: over the untouched template, and over nothing that somebody filled in."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.input_files import write_hosts
from support.paths import ROOT

from lab.base.errors import BadInput
from lab.init.hosts_file_place import check_place, write

TEMPLATE = (ROOT / "hosts.ini").read_text(encoding="utf-8")


def test_a_new_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "mine.ini"
    assert not check_place(path)
    write(path, "[client]\n")
    assert path.read_text() == "[client]\n"
    assert path.stat().st_mode & 0o022 == 0


def test_the_untouched_template_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(TEMPLATE)
    assert check_place(path)
    write(path, "[client]\n")
    assert path.read_text() == "[client]\n"


def test_a_file_that_somebody_filled_in_stays(tmp_path: Path) -> None:
    path = write_hosts(tmp_path)
    before = path.read_bytes()
    for attempt in (lambda: check_place(path), lambda: write(path, "x")):
        with pytest.raises(BadInput, match=r"is there already, and filled in: it is not written over"):
            attempt()
    assert path.read_bytes() == before


def test_a_half_filled_template_stays(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(TEMPLATE.replace("client.local", "mini.local"))
    with pytest.raises(BadInput, match="filled in"):
        check_place(path)


def test_what_is_no_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder", "no/such/hosts.ini"):
        with pytest.raises(BadInput):
            check_place(tmp_path / name)
