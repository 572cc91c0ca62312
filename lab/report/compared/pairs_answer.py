"""What several pairs of hosts say of a sweep, in sentences: effects over pairs, how far pairs differ, what cannot be
told from the pair.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.report.compared.comparison import PairFact, PairsOfHosts
from lab.report.compared.words import LONGEST_VALUE, listed
from lab.report.prose import span, warnings_of_machines
from lab.stats.over_pairs import LEAST_PAIRS

MOST_SENTENCES = 12  # of effects: the table has them all
MOST_VALUES = 6
NO_RANKING = (
    "No pair is ranked, nor a system, a model or a vendor by its pairs: pairs were not given their facts by chance, "
    "and differ in more than is noted."
)


def answer(pairs: PairsOfHosts) -> list[str]:
    """Each comparison over all cases, with how far the pairs agree; first how many pairs there are."""
    return [sentence for part in answers(pairs).values() for sentence in part]


def answers(pairs: PairsOfHosts) -> dict[str, list[str]]:
    """The same by what it is about."""
    machines = dict.fromkeys(text for run in pairs.runs for text in warnings_of_machines(run.run))
    parts = {"The pairs": [_count(pairs), *machines], "Over the pairs": list(_effects(pairs))}
    return {name: sentences for name, sentences in parts.items() if sentences}


def _count(pairs: PairsOfHosts) -> str:
    count, runs = len(pairs.pairs), len(pairs.runs)
    of_runs = f" ({runs} runs)" if runs > count else ""
    if count < LEAST_PAIRS:
        return (
            f"{count} pairs of hosts{of_runs}: no interval over pairs, for {count} do not show how far a further one "
            f"would lie; at least {LEAST_PAIRS} are needed. Every interval below is of one pair."
        )
    return (
        f"{count} pairs of hosts{of_runs}, taken as a sample of pairs: an interval over pairs rests on how far these "
        "differ, with Student's t of n − 1 degrees of freedom for n pairs, not on the number of trials."
    )


def _effects(pairs: PairsOfHosts) -> Iterator[str]:
    """A sentence a comparison, the established ones first."""
    table = pairs.table.effects
    if table.empty:
        yield "No two levels of a factor were measured in one block: there is no effect."
        return
    _, is_overall = stats.comparisons(table)
    rows = [row | {"row": place} for place, row in enumerate(stats.rows_of(table)) if is_overall[place]]
    ordered = sorted(rows, key=lambda row: (not row["established"], row["n_pairs"] < LEAST_PAIRS))
    for row in ordered[:MOST_SENTENCES]:
        yield effect_sentence(pairs, row)
    if len(ordered) > MOST_SENTENCES:
        yield f"{len(ordered) - MOST_SENTENCES} more comparisons stand in the table."


def effect_sentence(pairs: PairsOfHosts, row: stats.Row) -> str:
    """One comparison: over the pairs with its interval, how far pairs differ, and in which it goes the other way."""
    name, count = one_line(stats.compared_label(row)), row["n_pairs"]
    where = "" if all(row[column] == stats.EVERY for column in stats.POOLED) else f", {stats.row_label(row)}"
    if np.isnan(row["p_value"]):
        few = f"pairs with an interval of their own: {count} of at least {LEAST_PAIRS}"
        return f"{name}{where}: {_each(pairs, row)}; nothing is said over pairs ({few})."
    established = "" if row["established"] else ": not established over pairs"
    over = f"{name}{where}: {_span(row)} over {count} pairs{established}."
    return f"{over} {_heterogeneity(row)}{_against(pairs, row)}"


def _heterogeneity(row: stats.Row) -> str:
    """How far the pairs differ among themselves, in words."""
    further = f"[{_signed(row['predicted_low_pct'])}, {_signed(row['predicted_high_pct'])}]"
    if row["tau_pct"] == 0:
        return f"The pairs differ no more than their blocks do (I² 0 %); a further pair would lie in {further}."
    tau = f"{row['tau_pct']:.2g} % (tau; I² {100 * row['i2']:.0f} %)"
    return f"The pairs differ among themselves by {tau}; a further pair would lie in {further}."


def _signed(value: float) -> str:
    return f"{value:+.1f}" if abs(value) < 1000 else f"{value:+.2g}"


def _of_row(pairs: PairsOfHosts, row: stats.Row) -> Sequence[stats.Row]:
    of_pairs = pairs.table.effects_of_pairs
    return stats.rows_of(of_pairs[of_pairs["row"] == row["row"]])


def _each(pairs: PairsOfHosts, row: stats.Row) -> str:
    """The pairs one by one, of few."""
    named = [f"{_span(one)} in {pairs.pairs[one['pair']].name}" for one in _of_row(pairs, row)]
    return listed(named, MOST_VALUES) if named else "in no pair"


def _span(row: stats.Row) -> str:
    """A change with its interval."""
    ends = {f"change_{end}_pct": row[f"{end}_pct"] for end in ("low", "high")}
    return span({**row, **ends}, "change")


def _against(pairs: PairsOfHosts, row: stats.Row) -> str:
    """In which pairs the interval lies wholly on the other side."""
    opposite = [
        pairs.pairs[one["pair"]].name
        for one in _of_row(pairs, row)
        if (row["change_pct"] > 0 and one["high_pct"] < 0) or (row["change_pct"] < 0 and one["low_pct"] > 0)
    ]
    return f" In {listed(opposite)} it goes the other way: the interval of that pair lies there." if opposite else ""


def confounded(pairs: PairsOfHosts) -> list[str]:
    """The facts whose effect cannot be told from that of the pair; and that nothing is ranked."""
    facts = pairs.facts
    if not facts:
        return ["Of what the runs note of the hosts nothing differs between the pairs, but for names.", NO_RANKING]
    one_each = [_name(fact) for fact in facts if fact.is_one_each]
    sentences = []
    if one_each:
        names = listed(one_each, MOST_SENTENCES)
        sentences.append(
            f"One pair a value: {names}. What that does cannot be told from the pair, and nothing is said of it."
        )
    sentences += [_levels(fact, pairs) for fact in facts if not fact.is_one_each and fact.alone]
    if several := [_name(fact) for fact in facts if not fact.alone]:
        names = listed(several, MOST_SENTENCES)
        sentences.append(
            f"Several pairs a value: {names}. These pairs differ in other facts as well: it is not tested here."
        )
    return [*sentences, NO_RANKING]


def _levels(fact: PairFact, pairs: PairsOfHosts) -> str:
    """A fact of which some value has one pair."""
    alone = [
        f"{pair.name} alone has {_name(value)}"
        for pair, value in zip(pairs.pairs, fact.values, strict=True)
        if value in fact.alone
    ]
    return f"{_name(fact)}: {listed(alone, MOST_VALUES)}: what that does cannot be told from the pair."


def _name(fact: PairFact | str) -> str:
    return one_line(fact if isinstance(fact, str) else fact.name, LONGEST_VALUE)
