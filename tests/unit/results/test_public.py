"""A run for strangers: names are planted wherever a host can put text, and looked for in all that comes out."""

import re
from pathlib import Path

import pytest
from support.planted_names import NAMES, PLANTED, leaks, write_planted
from support.synthetic_runs import make_trials, trial, write_run

from lab.base.errors import BadInput
from lab.results import run_folder
from lab.results.public import Public
from lab.results.run_folder import RunFolder


@pytest.fixture
def planted(tmp_path: Path) -> RunFolder:
    return write_planted(tmp_path)


def test_no_planted_name_is_in_a_copy_and_the_numbers_are_the_same(planted: RunFolder, tmp_path: Path) -> None:
    assert {name for _, name in leaks(planted.path)} == set(PLANTED)
    shown = Public(planted)
    shown.copy_to(tmp_path / "copy")
    assert leaks(tmp_path / "copy") == []
    assert {name for _, name, _ in shown.replaced} >= set(NAMES["host"] + NAMES["user"] + NAMES["share"])
    ours, theirs = (run_folder.load(path) for path in (planted.path, tmp_path / "copy"))
    for column in ("trial_id", "case_id", "elapsed_s", "MB_per_s", "status", "retransmits"):
        assert ours[column].equals(theirs[column])
    assert not {"names", "seal", "hosts_digest"} & RunFolder(tmp_path / "copy").run.keys()


def test_the_same_name_has_the_same_mask_everywhere_and_each_time(planted: RunFolder) -> None:
    shown, again = Public(planted), Public(planted)
    assert shown.trials_path.read_bytes() == again.trials_path.read_bytes()
    mask = next(mask for kind, name, mask in shown.replaced if name == "marsgate")
    assert shown.run["hosts"]["client"]["hostname"] == mask
    assert mask in shown.run["title"]
    assert mask in shown.trials()[-1].reason


def test_what_the_lab_itself_writes_stays_though_a_host_is_called_like_a_key(tmp_path: Path) -> None:
    run = write_run(tmp_path, [trial(effective={"cipher": "chacha20-poly1305@openssh.com", "mount": "gvfs"})],
                    code_version="0.1.0+eede04230824", names={"user": ["lab"], "host": ["client"]})  # fmt: skip
    shown = Public(run)
    assert shown.run["code_version"] == run.run["code_version"]
    assert shown.trials()[0].effective == run.trials()[0].effective
    text = '[factors]\nserver_sync = ["default"]  # on server.q.lab\n'
    run = write_run(tmp_path, make_trials(1), names={"host": ["server.q.lab", "client.q.lab"]}, sweep_text=text)
    assert Public(run).run["sweep_text"] == text.replace("server.q.lab", "host-1")


def test_a_copy_goes_over_nothing_and_an_unreadable_run_is_named(planted: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(BadInput, match="mine: is there already"):
        Public(planted).copy_to(tmp_path / "mine")
    with planted.trials_path.open("a") as file:
        file.write("{}\n")
    with pytest.raises(BadInput, match=re.escape(str(planted.trials_path))):
        Public(planted)
