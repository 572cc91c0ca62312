"""A message is a line or a few, however much is wrong and however long what somebody else wrote is."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_host import FakeHost
from support.input_files import SWEEP
from support.memory_host import lab_signals
from support.open_runs import run_lab
from support.planted import EVIL, assert_plain
from support.synthetic_runs import trial, write_run

from lab import platforms
from lab.base.errors import Unsupported
from lab.base.untrusted import listing, one_line


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with lab_signals():
        yield


def printed_by(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> str:
    """What a command that fails prints."""
    code, out, err = run_lab(capsys, *argv)
    assert (code, out) == (2, "")
    assert_plain(err)
    return err


def test_a_text_is_one_line_and_a_long_list_is_cut() -> None:
    assert_plain(one_line(EVIL))
    assert "\n" not in one_line(EVIL)
    assert len(one_line(EVIL * 10_000, 100)) == 100
    assert listing(range(20_000)).endswith("8, 9 and 19,990 more")


@pytest.mark.parametrize("what", ["unknown keys", "effects", "the same effects", "fields", "a long key", "uname"])
def test_a_message_is_short_however_much_is_wrong(capsys: pytest.CaptureFixture[str], what: str) -> None:
    sweep = Path("a.toml")
    if what == "unknown keys":
        sweep.write_text("".join(f"k{number} = 1\n" for number in range(2000)) + SWEEP)
        assert "a.toml: and 1,980 more such problems" in printed_by(capsys, "plan", sweep)
    elif what in ("effects", "the same effects"):
        effects = [("mtu" if "same" in what else f"e{number}") for number in range(20_000)]
        sweep.write_text(f"effects = {json.dumps(effects)}\n{SWEEP}mtu = [1500, 9000]\n")
    elif what == "fields":
        folder = write_run(Path("results"), [trial()])
        folder.trials_path.write_text(json.dumps({f"k{number}": 1 for number in range(5000)}) + "\n")
        assert " more" in (printed := printed_by(capsys, "show", folder.path))
        assert len(printed) < 500
        return
    elif what == "a long key":
        sweep.write_text(f"{'k' * 100_000} = 1\n{SWEEP}")
    else:
        host = FakeHost()
        host.on(("uname", "-s"), "x" * 16 * 2**20)
        with pytest.raises(Unsupported) as raised:
            platforms.detect(host)
        assert len(str(raised.value)) < 300
        return
    printed = printed_by(capsys, "plan", sweep)
    assert len(printed) < 5000
    assert max(map(len, printed.splitlines())) < 600
