"""The answer of one sweep on several pairs of hosts: effects over pairs, how far they differ, what cannot be told."""

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rendered import Like, lacking, words_of_marks
from support.runs_to_compare import write_pair, write_pairs
from support.synthetic_runs import append_all

from lab import stats
from lab.base.errors import BadInput
from lab.report.compared import page
from lab.report.compared.as_json import pairs_json
from lab.report.compared.pairs_of_hosts import PairsOfHosts, answer, answers, confounded, identity
from lab.report.compared.pairs_tables import effects_of_pairs_table, effects_table, facts_table, speeds_table
from lab.report.figures.pairs_of_hosts import effects_over_pairs
from lab.report.markdown import md
from lab.report.page.html import policy
from lab.results.public import public_copies
from lab.results.run_folder import RunFolder

KERNELS = [{"kernel": "6.1"}, {"kernel": "6.1"}, {"kernel": "6.9"}, {"kernel": "6.1"}]


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> PairsOfHosts:
    return PairsOfHosts(write_pairs(tmp_path_factory.mktemp("four"), [0.1, 0.2, 0.3, 0.25], KERNELS))


@pytest.fixture(scope="module")
def paths(four: PairsOfHosts, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return page.write_pairs(four, tmp_path_factory.mktemp("page"))


def of_mtu(pairs: PairsOfHosts) -> str:
    (sentence,) = (text for text in answer(pairs) if text.startswith("MTU 1500 → 9000"))
    return sentence


def test_an_effect_that_pairs_share_is_established_over_them(tmp_path: Path) -> None:
    pairs = PairsOfHosts(write_pairs(tmp_path, [0.2, 0.21, 0.19, 0.2]))
    sentence = of_mtu(pairs)
    assert re.match(r"MTU 1500 → 9000: \+2[\d.]+ % \[\+1[\d.]+, \+2[\d.]+\] over 4 pairs\. The pairs differ", sentence)
    assert lacking(sentence, "not established", "a further pair would lie in [+") == ["not established"]
    assert answers(pairs)["The pairs"][0].startswith("4 pairs of hosts, taken as a sample of pairs")
    other = next(text for text in answer(pairs) if text.startswith("protocol "))
    assert other.count("not established over pairs") == 1


def test_pairs_that_differ_say_by_how_much_and_which_goes_the_other_way(tmp_path: Path) -> None:
    sentence = of_mtu(PairsOfHosts(write_pairs(tmp_path, [0.3, 0.4, -0.3, 0.35])))
    against = "In P3 it goes the other way: the interval of that pair lies there."
    assert sentence == Like(f"...over 4 pairs: not established over pairs....{against}")
    assert re.search(r"The pairs differ among themselves by [34][0-9] % \(tau; I² (99|100) %\)", sentence)


def test_two_pairs_have_no_interval_and_it_says_so(tmp_path: Path) -> None:
    pairs = PairsOfHosts(write_pairs(tmp_path, [0.2, 0.21]))
    assert answer(pairs)[0] == Like("...2 pairs of hosts: no interval over pairs...at least 3 are needed...")
    sentence = of_mtu(pairs)
    assert re.search(r"in P1 and \+[\d.]+ % \[\+[\d.]+, \+[\d.]+\] in P2; nothing is said over pairs", sentence)
    assert "over 2 pairs" not in sentence
    assert {row[2] for row in effects_table(pairs).rows} <= {"–", ""}


def test_two_runs_of_one_pair_are_one_pair(tmp_path: Path) -> None:
    runs = [*write_pairs(tmp_path, [0.2, 0.21, 0.19]), write_pair(tmp_path, 9, 0.2, host="pair1")]
    pairs = PairsOfHosts(runs)
    assert [len(pair.runs) for pair in pairs.pairs] == [2, 1, 1]
    assert answer(pairs)[0].startswith("3 pairs of hosts (4 runs)")
    with pytest.raises(BadInput, match="all are of one pair of hosts"):
        PairsOfHosts([runs[0], runs[3]])


def test_where_names_are_replaced_the_same_hardware_is_one_pair(tmp_path: Path) -> None:
    facts: list[dict[str, str]] = [{}, {}, {"cpu": "Another CPU"}]
    runs = [write_pair(tmp_path, at, 0.2, of, host="host-1", replaced={"host": 2}) for at, of in enumerate(facts, 1)]
    assert [len(pair.runs) for pair in PairsOfHosts(runs).pairs] == [2, 1]
    # a copy without names has the pairs of the runs themselves, also where a new kernel sees other hardware
    runs = [write_pair(tmp_path, seed, 0.2, facts, host="pair1") for seed, facts in ((1, {}), (2, {"cores": 9}))]
    runs += [write_pair(tmp_path, seed, 0.2) for seed in (3, 4)]
    identities = [identity(run.run) for run in runs]
    for made in (PairsOfHosts(runs), PairsOfHosts(public_copies(runs), identities)):
        assert [len(pair.runs) for pair in made.pairs] == [2, 1, 1]


def test_a_fact_with_one_pair_a_value_is_not_ranked(tmp_path: Path) -> None:
    systems = (("6.1", 2, "A"), ("6.2", 2, "B"), ("6.3", 2, "A"), ("6.4", 8, "B"))
    facts = [dict(zip(("kernel", "cores", "os"), values, strict=True)) for values in systems]
    sentences = confounded(PairsOfHosts(write_pairs(tmp_path, [0.1, 0.2, 0.3, 0.4], facts)))
    untold = "What that does cannot be told from the pair, and nothing is said of it."
    assert sentences == [
        f"One pair a value: server kernel. {untold}",
        "server cores: P4 alone has 8: what that does cannot be told from the pair.",
        Like("Several pairs a value: server os. These pairs differ in other facts as well..."),
        Like("No pair is ranked, nor a system, a model or a vendor..."),
    ]
    assert not re.search("faster|slower|best|fastest", " ".join(sentences))


def test_names_are_no_facts_and_pairs_that_differ_in_nothing_say_so(tmp_path: Path) -> None:
    *runs, last = write_pairs(tmp_path, [0.1, 0.2, 0.3])
    pairs = PairsOfHosts([*runs, last])
    assert pairs.facts == []
    assert confounded(pairs)[0].startswith("Of what the runs note of the hosts nothing differs")
    another = write_pair(tmp_path, 3, 0.3, sweep_text='name = "another"\n')
    (fact,) = PairsOfHosts([*runs, another]).facts
    assert (fact.name, fact.values) == ("sweep", ("text 1", "text 1", "text 2"))


def test_many_pairs_have_no_column_each(tmp_path: Path) -> None:
    facts = [{"kernel": "6.1" if pair < 5 else "6.9"} for pair in range(7)]
    pairs = PairsOfHosts(write_pairs(tmp_path, [0.1] * 7, facts, blocks=3))
    assert facts_table(pairs).rows == [["server kernel", "6.1", "5"], ["server kernel", "6.9", "2"]]
    assert len(speeds_table(pairs).rows) == 12
    overall = effects_of_pairs_table(pairs, overall=True).rows
    assert sum(row[0].startswith("all cases, P") for row in overall) == 7 * 2  # protocol, MTU


def test_json_has_every_number_of_every_pair(four: PairsOfHosts) -> None:
    pairs: Any = pairs_json(four)
    names = [pair["pair"] for pair in pairs["pairs"]]
    assert names == ["P1", "P2", "P3", "P4"]
    assert pairs["facts"][0]["pairs_a_value"] == {"6.1": 3, "6.9": 1}
    for row in pairs["effects"]:
        assert ([numbers["pair"] for numbers in row["of_pairs"]], row["n_pairs"]) == (names, 4)
    assert (len(pairs["speeds"]), pairs["has_intervals"]) == (12, True)


def test_the_page_has_every_sentence_and_number_and_fetches_nothing(four: PairsOfHosts, paths: list[Path]) -> None:
    assert sorted(path.name for path in paths) == ["compare.html", "compare.md", "over-pairs.png", "over-pairs.svg"]
    shown, post = paths[-1].read_text(), paths[-2].read_text()
    for sentence in (*answer(four), *confounded(four)):
        assert html.escape(sentence) in shown
        assert md(sentence) in post
    for row in stats.rows_of(four.table.effects):
        assert f"<td>{row['low_pct']:+.1f} … {row['high_pct']:+.1f}</td>" in shown
    assert policy() in shown
    assert not re.search(r"https?:", re.sub(r'xmlns="[^"]*"', "", shown))


def test_every_mark_of_the_figure_has_its_words(four: PairsOfHosts, paths: list[Path]) -> None:
    words = words_of_marks(next(path for path in paths if path.suffix == ".svg"))
    overall = int(stats.comparisons(four.table.effects)[1].sum())
    assert len(words) == overall * 5
    assert sum(text.startswith("MTU 1500 → 9000, P3: ") for text in words) == 1
    axes = effects_over_pairs(four).axes[0]
    drawn = np.concatenate([line.get_xdata() for line in axes.lines if line.get_linestyle() == "None"])
    assert len(drawn) == overall * 5


def test_a_run_without_effects_is_no_error_and_runs_without_a_case_in_common_are_refused(tmp_path: Path) -> None:
    runs = write_pairs(tmp_path, [0.0, 0.0, 0.0])
    for run in runs:
        keep(run, case_id="smb-cp-read-1500")
    pairs = PairsOfHosts(runs)
    assert "there is no effect" in answer(pairs)[1]
    assert page.write_pairs(pairs, tmp_path / "page")
    runs = write_pairs(tmp_path / "others", [0.1, 0.2])
    for run, protocol in zip(runs, ("afp", "smb"), strict=True):
        keep(run, protocol=protocol)
    with pytest.raises(BadInput, match="no case has a good trial on two pairs"):
        PairsOfHosts(runs)


def keep(run: RunFolder, **having: str) -> None:
    """Keep only the trials of a run with these fields."""
    kept = [trial for trial in run.trials() if all(getattr(trial, name) == value for name, value in having.items())]
    run.trials_path.unlink()
    append_all(run, kept)
