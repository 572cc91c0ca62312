"""What mount of an emulated Mac prints, against what real ones printed."""

import pwd
import re
from types import SimpleNamespace

import pytest
from support.emulated_programs import Run, capture


@pytest.mark.parametrize("line", capture("mount-lines.txt").splitlines())
def test_mount_prints_lines_as_macs_did(mac: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    source, target, kind, listed, user = re.fullmatch(
        r"(.+) on (/.*) \((\w+), (.*?)(?:, mounted by (\w+))?\)", line
    ).groups()  # type: ignore[union-attr]
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name=user))
    flags = sorted(listed.split(", "), reverse=True)
    row = {"source": source, "target": target, "type": kind, "flags": flags, "uid": 501 if user else 0}
    assert mac("15.5", "mount", answers={"mounts": [row]}) == (0, f"{line}\n", "")
