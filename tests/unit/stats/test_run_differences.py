"""Facts that differ between runs, or changed with a step: named once, with the runs that share a value."""

from pathlib import Path
from typing import Any

import numpy as np
from support.runs_to_compare import write_history
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import RUN

from lab.results.saved_runs import read_saved_runs
from lab.stats.run_differences import BOTH, ChangedFact, DifferingFact, busiest, changed_facts, differing_between

OF = cases(protocol=["afp", "smb"], mtu=[1500, 9000])


def described(**server: Any) -> dict[str, Any]:
    return RUN | {"hosts": RUN["hosts"] | {"server": RUN["hosts"]["server"] | server}}


def trials(effective: Any = None, of: Any = OF) -> Any:
    """A run whose trials had this in effect, by protocol."""
    frame = run(of, noise(np.random.default_rng(0), of, 2))
    own = effective or {}
    return frame.assign(effective=[own.get(protocol, {}) for protocol in frame["protocol"]])


def test_facts_of_hosts_are_named_by_role_or_once_for_both_and_so_are_title_and_version() -> None:
    both = RUN | {"hosts": {side: facts | {"os": "New OS"} for side, facts in RUN["hosts"].items()}}
    facts = differing_between([(RUN, trials()), (both, trials()), (described(kernel="9"), trials())])
    assert facts == [
        DifferingFact(f"os {BOTH}", ("Invented OS 1.0", "New OS", "Invented OS 1.0")),
        DifferingFact("server kernel", ("0.0-synthetic", "0.0-synthetic", "9")),
    ]
    assert [fact.pattern for fact in facts] == [(0, 1, 0), (0, 0, 1)]
    facts = differing_between([(RUN, trials()), (RUN | {"title": "at 1 ms", "code_version": "2"}, trials())])
    assert [fact.name for fact in facts] == ["title", "lab"]


def test_what_only_identifies_a_run_is_no_difference_and_the_busiest_block_counts() -> None:
    assert busiest(RUN) == 0
    assert busiest(RUN | {"load": [{"block": 1, "client": 0.1}, {"block": 2, "client": 0.2, "server": 1.5}]}) == 1.5
    again = RUN | {"started_at": "2031-01-01T00:00:00+00:00", "instance": "another", "id": "2", "seed": 9}
    again |= {"hosts": {side: facts | {"available_bytes": 7} for side, facts in RUN["hosts"].items()}}
    assert differing_between([(RUN, trials()), (again, trials())]) == []


def test_what_was_in_effect_is_named_by_protocol_unless_several_say_the_same() -> None:
    one = trials({"smb": {"dialect": "3.0", "mount": "kernel"}, "afp": {"mount": "kernel"}})
    other = trials({"smb": {"dialect": "3.1.1", "mount": "gvfs"}, "afp": {"mount": "gvfs"}})
    assert differing_between([(RUN, one), (RUN, other)]) == [
        DifferingFact("mount", ("kernel", "gvfs")), DifferingFact("SMB dialect", ("3.0", "3.1.1")),
    ]  # fmt: skip
    more = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 9000])  # cases that only one run has make no difference
    assert differing_between([(RUN, trials()), (RUN, trials({"nfs": {"dialect": "NFSv4"}}, more))]) == []


AT = {"protocol": "smb", "tool": "cp", "direction": "write"}


def facts_of(results: Path, at: int) -> list[ChangedFact]:
    runs = read_saved_runs(results, "nas").runs
    return changed_facts(runs[:at], runs[at:], AT)


def hosts(**client: Any) -> dict[str, Any]:
    return {"hosts": RUN["hosts"] | {"client": RUN["hosts"]["client"] | client}}


def test_what_changed_then_and_only_then_comes_first(tmp_path: Path) -> None:
    def run_of(number: int) -> dict[str, Any]:
        tools = {"tools": {"rsync": "3.2" if number % 2 else "3.4"}}
        return hosts(kernel="6.12" if number >= 4 else "6.1", **tools)

    write_history(tmp_path, [1.0] * 8, run_of=run_of)
    assert facts_of(tmp_path, 4) == [
        ChangedFact("client kernel", "6.1", "6.12", True),
        ChangedFact("client tools rsync", "3.2", "3.4", False),
    ]


def test_the_speed_of_the_link_is_told_in_bits(tmp_path: Path) -> None:
    def run_of(number: int) -> dict[str, Any]:
        bits = 10**9 if number < 3 else 10**8
        return hosts(link_bits_per_s=bits, available_bytes=number) | {"link": {"bits_per_s": bits}}

    write_history(tmp_path, [1.0] * 6, run_of=run_of)
    names = {fact.name: (fact.before, fact.after) for fact in facts_of(tmp_path, 3)}
    assert names == dict.fromkeys(("link", "client link"), ("1000 Mbit/s", "100 Mbit/s"))


def test_a_change_of_what_was_in_effect_in_the_trials_counts_too(tmp_path: Path) -> None:
    folders = write_history(tmp_path, [1.0] * 4)
    for folder in folders[2:]:
        text = folder.trials_path.read_text().replace('"mount": "gvfs"', '"mount": "kernel", "dialect": "3.1.1"')
        folder.trials_path.write_text(text)
    assert facts_of(tmp_path, 2) == [
        ChangedFact("mount", "gvfs", "kernel", True), ChangedFact("dialect", "–", "3.1.1", True)
    ]  # fmt: skip
