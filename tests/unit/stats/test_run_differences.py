"""What runs note differently: which facts, named once, and which runs share a value."""

from typing import Any

import numpy as np
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import RUN

from lab.stats.run_differences import BOTH, DifferingFact, busiest, differing_between

OF = cases(protocol=["afp", "smb"], mtu=[1500, 9000])


def described(**server: Any) -> dict[str, Any]:
    return RUN | {"hosts": RUN["hosts"] | {"server": RUN["hosts"]["server"] | server}}


def trials(effective: Any = None, of: Any = OF) -> Any:
    """A run whose trials had this in effect, by protocol."""
    frame = run(of, noise(np.random.default_rng(0), of, 2))
    own = effective or {}
    return frame.assign(effective=[own.get(protocol, {}) for protocol in frame["protocol"]])


def test_facts_of_hosts_are_named_by_role_and_once_where_both_say_the_same() -> None:
    both = RUN | {"hosts": {side: facts | {"os": "New OS"} for side, facts in RUN["hosts"].items()}}
    facts = differing_between([(RUN, trials()), (both, trials()), (described(kernel="9"), trials())])
    assert facts == [
        DifferingFact(f"os {BOTH}", ("Invented OS 1.0", "New OS", "Invented OS 1.0")),
        DifferingFact("server kernel", ("0.0-synthetic", "0.0-synthetic", "9")),
    ]
    assert [fact.pattern for fact in facts] == [(0, 1, 0), (0, 0, 1)]


def test_what_tells_runs_apart_and_nothing_else_is_no_difference() -> None:
    again = RUN | {"started_at": "2031-01-01T00:00:00+00:00", "instance": "another", "id": "2", "seed": 9}
    again |= {"hosts": {side: facts | {"available_bytes": 7} for side, facts in RUN["hosts"].items()}}
    assert differing_between([(RUN, trials()), (again, trials())]) == []


def test_title_and_version_of_the_lab_are_facts() -> None:
    facts = differing_between([(RUN, trials()), (RUN | {"title": "at 1 ms", "code_version": "2"}, trials())])
    assert [fact.name for fact in facts] == ["title", "lab"]


def test_what_was_in_effect_is_named_by_protocol_unless_several_say_the_same() -> None:
    one = trials({"smb": {"dialect": "3.0", "mount": "kernel"}, "afp": {"mount": "kernel"}})
    other = trials({"smb": {"dialect": "3.1.1", "mount": "gvfs"}, "afp": {"mount": "gvfs"}})
    assert differing_between([(RUN, one), (RUN, other)]) == [
        DifferingFact("mount", ("kernel", "gvfs")), DifferingFact("SMB dialect", ("3.0", "3.1.1")),
    ]  # fmt: skip


def test_cases_that_only_one_run_has_make_no_difference() -> None:
    more = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 9000])
    assert differing_between([(RUN, trials()), (RUN, trials({"nfs": {"dialect": "NFSv4"}}, more))]) == []


def test_the_busiest_block_counts() -> None:
    assert busiest(RUN) == 0
    assert busiest(RUN | {"load": [{"block": 1, "client": 0.1}, {"block": 2, "client": 0.2, "server": 1.5}]}) == 1.5
