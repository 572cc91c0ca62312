from pathlib import Path
from typing import Any

from support.saved_runs import write_history
from support.synthetic_runs import RUN

from lab.results.saved_runs import read_saved_runs
from lab.stats.run_differences import ChangedFact, changed_facts

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


def test_what_was_in_effect_in_the_trials_counts_too(tmp_path: Path) -> None:
    folders = write_history(tmp_path, [1.0] * 4)
    for folder in folders[2:]:
        text = folder.trials_path.read_text().replace('"mount": "gvfs"', '"mount": "kernel", "dialect": "3.1.1"')
        folder.trials_path.write_text(text)
    assert facts_of(tmp_path, 2) == [
        ChangedFact("mount", "gvfs", "kernel", True), ChangedFact("dialect", "–", "3.1.1", True)
    ]  # fmt: skip
