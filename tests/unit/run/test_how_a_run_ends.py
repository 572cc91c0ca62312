"""What a run that fails notes in run.json, and tells."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest
from support.memory_host import HoldingKnob, World, knob
from support.pairs import hosts_model
from support.sweeps import sweep_with

from lab.base.errors import Interrupted, RestoreError, TransferError
from lab.results.run_folder import RunFolder
from lab.run import lifecycle
from lab.run.case.session import Session
from lab.settings.by_hand import REMEDIES
from lab.settings.changes import Settings

STALLED = TransferError("a first transfer of 16 MiB stalled", "is the MTU of both ends the same?", host="client")
BUSY = REMEDIES["[Bb]usy"]


@pytest.mark.parametrize(
    ("error", "first"),
    [
        (STALLED, "client: a first transfer of 16 MiB stalled"),
        (Interrupted("stopped by SIGTERM", SIGTERM), "stopped by SIGTERM"),
    ],
    ids=["a failure", "an interruption"],
)
def test_what_ended_it_comes_before_what_could_not_be_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, first: str
) -> None:
    world, folder = World(tmp_path), RunFolder.create(tmp_path / "results", "share", {})

    @contextmanager
    def changing(*_: object) -> Iterator[Settings]:
        try:
            yield world.settings
        finally:
            world.settings.unwind()

    def open_session(session: Session) -> None:
        for key in ("mount", "mtu"):
            session.settings.apply(knob("server", key, "9", HoldingKnob))
        host = world.hosts["server"]
        host.stuck_keys, host.says = {"mtu"}, "rm: cannot remove 'x': Device or resource busy\n"
        raise error

    monkeypatch.setattr(lifecycle, "changing", changing)
    monkeypatch.setattr(
        Session, "__init__", lambda session, _, __, settings, *___: setattr(session, "settings", settings)
    )
    monkeypatch.setattr(Session, "open", open_session)
    supervision = lifecycle.Supervision(lambda _: None, lambda _: None)
    hosts: Mapping[str, Any] = world.hosts
    with pytest.raises(RestoreError) as raised:
        lifecycle._conduct(folder, hosts, hosts_model(), sweep_with(), Any, Any, supervision)  # type: ignore[arg-type]
    ended = f"failed: {first}; not everything could be put back"
    assert RunFolder(folder.path).run["ended"] == ended
    lines = raised.value.brief().splitlines()
    assert lines[0] == first
    goes_on = f"; every trial so far is kept: `lab run --resume {folder.path}` goes on"
    assert lines[-4].endswith(goes_on if isinstance(error, Interrupted) else "`lab restore` tries again")
    assert raised.value.stopped_by is (error if isinstance(error, Interrupted) else None)
    assert lines[-3:] == [
        f"server: knob mtu should be '1500' and is '9': rm: cannot remove 'x': Device or resource busy; {BUSY}",
        "server: knob mount stays: another open change needs it",
        f"to put it back by hand, type what {tmp_path / 'by-hand.txt'} has",
    ]
