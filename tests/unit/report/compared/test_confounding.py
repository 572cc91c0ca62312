"""What runs cannot tell apart, and what a run that comes back to the old facts adds to that."""

from pathlib import Path

from support.runs_to_compare import NEW, OLD, invent, write_kernel

from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding

CHANGED = {"smb": 1.8, "afp": 0.7}


def test_one_fact_and_time_are_confounded(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, kernel, invent(place, {}), place) for place, kernel in enumerate((OLD, NEW))]
    assert confounding(Comparison(runs)) == [
        "A and B differ in one noted fact (server kernel), and in time: these two cannot be told apart."
    ]


def test_several_facts_are_confounded_with_each_other(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    new = write_kernel(tmp_path, NEW, invent(2, {}), 1, {"os": "New OS"}, code_version="2")
    (said,) = confounding(Comparison([old, new]))
    assert "differ in 3 noted facts (lab, server os and server kernel)" in said
    assert said.endswith("which of them is the cause cannot be told apart.")


def test_runs_of_the_same_show_how_far_runs_differ(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(place, {}), place) for place in range(2)]
    assert "how far two runs differ by themselves" in confounding(Comparison(runs))[0]


def test_old_new_old_says_that_the_change_came_and_went(tmp_path: Path) -> None:
    kernels: list[tuple[str, dict[str, float]]] = [(OLD, {}), (NEW, CHANGED), (OLD, {})]
    runs = [write_kernel(tmp_path, kernel, invent(place, fast), place) for place, (kernel, fast) in enumerate(kernels)]
    said = confounding(Comparison(runs))
    assert any("A and C have the same facts, and agree within" in line for line in said)
    assert said[-1] == (
        "In 4 of the 4 rows where B is told apart from A its interval lies outside those of A and C among themselves: "
        "what changed came with B, and went with it."
    )


def test_without_a_run_after_it_the_time_may_be_the_cause(tmp_path: Path) -> None:
    new = write_kernel(tmp_path, NEW, invent(3, CHANGED), 9)
    runs = [write_kernel(tmp_path, OLD, invent(1, {}), 0), new, write_kernel(tmp_path, OLD, invent(2, {}), 1)]
    assert confounding(Comparison(runs))[-1].endswith(
        "what changed came with B, or with its time: A and C are on one side of it."
    )


def test_a_drift_that_a_repeated_run_shows_too_is_no_change(tmp_path: Path) -> None:
    kernels = ((OLD, 1.0), (NEW, 0.8), (OLD, 0.6))
    runs = [
        write_kernel(tmp_path, kernel, invent(place, dict.fromkeys(("afp", "smb", "ssh"), fast)), place)
        for place, (kernel, fast) in enumerate(kernels)
    ]
    said = confounding(Comparison(runs))
    assert any("A and C have the same facts, and differ all the same: C is 0.6" in line for line in said)
    assert said[-1].startswith("In 0 of the 6 rows where B is told apart from A")
    assert said[-1].endswith("what changed may be no more than how far runs differ anyway.")


def test_facts_that_did_not_always_change_together_are_told_apart_by_a_third_run(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    both = write_kernel(tmp_path, NEW, invent(2, {"smb": 0.5}), 1, {"os": "New OS"})
    system = write_kernel(tmp_path, OLD, invent(3, {}), 2, {"os": "New OS"})
    said = confounding(Comparison([old, both, system]))
    assert any(line.startswith("B and C differ in server kernel alone, and in time: C is 1.2") for line in said)
    assert not any("changed together each time" in line for line in said)


def test_facts_that_always_changed_together_are_named(tmp_path: Path) -> None:
    states = ((OLD, "Old OS"), (NEW, "New OS"), (OLD, "Old OS"))
    runs = [
        write_kernel(tmp_path, kernel, invent(place, {}), place, {"os": system})
        for place, (kernel, system) in enumerate(states)
    ]
    assert any(
        "server os and server kernel changed together each time" in line for line in confounding(Comparison(runs))
    )
