"""A message is a line or a few, however much is wrong and however long what somebody else wrote is."""

import json
from pathlib import Path

import pytest
from support.commands import Command, write
from support.fake_host import FakeHost
from support.input_files import SWEEP
from support.planted import EVIL, assert_plain
from support.synthetic_runs import trial, write_run

from lab import platforms
from lab.base.errors import Unsupported
from lab.base.untrusted import listing, one_line


def test_a_text_is_one_line_and_a_long_list_is_cut() -> None:
    assert_plain(one_line(EVIL))
    assert "\n" not in one_line(EVIL)
    assert len(one_line(EVIL * 10_000, 100)) == 100
    assert listing(range(20_000)).endswith("8, 9 and 19,990 more")


def effects(names: list[str]) -> str:
    return f"effects = {json.dumps(names)}\n{SWEEP}mtu = [1500, 9000]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("".join(f"k{number} = 1\n" for number in range(2000)) + SWEEP, "a.toml: and 1,980 more such problems"),
        (effects([f"e{number}" for number in range(20_000)]), ""),
        (effects(["mtu"] * 20_000), ""),
        (f"{'k' * 100_000} = 1\n{SWEEP}", ""),
    ],
    ids=["unknown keys", "effects", "the same effects", "a long key"],
)
def test_a_message_about_a_sweep_is_short_however_much_is_wrong(refused: Command, text: str, message: str) -> None:
    err = refused("plan", write("a.toml", text))
    assert_plain(err)
    assert (message in err, len(err) < 5000, max(map(len, err.splitlines())) < 600) == (True, True, True)


def test_a_message_about_a_trial_or_a_system_is_short(refused: Command) -> None:
    folder = write_run(Path("results"), [trial()])
    folder.trials_path.write_text(json.dumps({f"k{number}": 1 for number in range(5000)}) + "\n")
    err = refused("show", folder.path)
    assert_plain(err)
    assert (" more" in err, len(err) < 500) == (True, True)
    host = FakeHost()
    host.on(("uname", "-s"), "x" * 16 * 2**20)
    with pytest.raises(Unsupported) as raised:
        platforms.detect(host)
    assert len(str(raised.value)) < 300
