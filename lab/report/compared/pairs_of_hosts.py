"""One sweep on several pairs of hosts: effects over pairs, how far pairs differ, what cannot be told from the pair."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab import stats
from lab.base.errors import BadInput
from lab.base.groups import grouped
from lab.base.units import size_label
from lab.base.untrusted import one_line
from lab.hosts import ROLES
from lab.report.compared.comparison import ComparedRun
from lab.report.prose import LONGEST_VALUE, listed, span, warnings_of_machines
from lab.results.json_object import RunJson
from lab.results.run_folder import RunFolder
from lab.stats.over_pairs import LEAST_PAIRS, OverPairs, over_pairs
from lab.stats.run_differences import BOTH, DifferingFact, differing_between

MOST_RUNS_OVER_PAIRS = 400
HARDWARE = ("platform", "cpu", "cores")  # tells hardware apart where names are replaced, and stays from run to run
GIB = 1 << 30
NAMES = ("hostname", "user", "home", "title")  # facts that each pair has anyway, and that cause nothing
MOST_SENTENCES = 12  # on effects; the table has them all
MOST_VALUES = 6
NO_RANKING = (
    "No pair is ranked, nor a system, a model or a vendor by its pairs: pairs were not given their facts by chance, "
    "and differ in more than is noted."
)


@dataclass(frozen=True, eq=False)
class HostPair:
    """A client and a server that were measured together: the ``name`` of the pair, and its runs."""

    name: str
    runs: Sequence[ComparedRun]


@dataclass(frozen=True)
class PairFact:
    """A fact that pairs note differently, with the value of each pair."""

    name: str
    values: tuple[str, ...]

    @property
    def counts(self) -> Counter[str]:
        """How many pairs have each value."""
        return Counter(self.values)


class PairsOfHosts:
    """Runs of one sweep, by the pair of hosts that each was measured on; pairs are named P1, P2, …

    ``identities`` says which runs are of one pair: for copies without names those of the original runs, else what
    :func:`identity` makes of each. Raises BadInput where a run cannot be read, where all are of one pair, or where no
    two pairs have a case in common.
    """

    def __init__(self, folders: Sequence[RunFolder], identities: Sequence[tuple[str, ...]] | None = None):
        groups = grouped(zip(identities or [identity(folder.run) for folder in folders], folders, strict=True))
        named = f"{folders[0].label} and {len(folders) - 1} more"
        if len(groups) < 2:
            raise BadInput(
                f"{named}: all are of one pair of hosts, as far as they note it",
                "name runs of several pairs; `lab compare` without --over-pairs is for runs of one",
            )
        self.pairs = [
            HostPair(f"P{number}", [ComparedRun(f"P{number}", folder) for folder in pair_folders])
            for number, pair_folders in enumerate(groups.values(), 1)
        ]
        if not self.table.speeds_of_pairs["row"].duplicated().any():
            raise BadInput(f"{named}: no case has a good trial on two pairs", "name runs of one sweep")

    @property
    def runs(self) -> list[ComparedRun]:
        """The runs of the first pair, then those of the next."""
        return [run for pair in self.pairs for run in pair.runs]

    @cached_property
    def table(self) -> OverPairs:
        """See :func:`lab.stats.over_pairs.over_pairs`."""
        return over_pairs([[run.trials for run in pair.runs] for pair in self.pairs])

    @cached_property
    def facts(self) -> list[PairFact]:
        """The facts that differ between the runs, except names; a pair whose runs differ has all of their values."""
        facts: list[PairFact] = []
        for fact in [*differing_between([(run.run, run.trials) for run in self.runs]), *self._sweeps()]:
            of_pairs: dict[str, dict[str, None]] = {pair.name: {} for pair in self.pairs}
            for run, value in zip(self.runs, fact.values, strict=True):
                of_pairs[run.letter][value] = None
            joined = tuple(map(", ".join, of_pairs.values()))
            if fact.name.removesuffix(f" {BOTH}").split(" ")[-1] not in NAMES and len(set(joined)) > 1:
                facts.append(PairFact(fact.name, joined))
        return facts

    def _sweeps(self) -> list[DifferingFact]:
        """The text of the sweep and the size of the payload, where these are not the same in all."""
        texts = [str(run.run.get("sweep_text", "")) for run in self.runs]
        number = {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}
        sizes = (sorted(set(stats.transfers(run.trials)["size_bytes"])) for run in self.runs)
        payloads = tuple(", ".join(size_label(int(size)) for size in run_sizes) for run_sizes in sizes)
        facts = {"sweep": tuple(f"text {number[text]}" for text in texts), "payload": payloads}
        return [DifferingFact(name, values) for name, values in facts.items() if len(set(values)) > 1]


def identity(run: RunJson) -> tuple[str, ...]:
    """The marks of a run's pair of hosts: both names, and the server of a share that was measured alone.

    If names were replaced, hardware counts too. Two pairs of the same hardware are then one: too few, never too many.
    """
    hosts, target = run.get("hosts", {}), run.get("target", {})
    names = [str(hosts.get(role, {}).get("hostname", "")) for role in ROLES]
    parts = [*names, str(target.get("server", "")), str(run.get("instance") or "").partition("/")[0]]
    if "replaced" in run:
        parts += [part for role in ROLES for part in _hardware(hosts.get(role, {}))]
    return tuple(parts)


def _hardware(facts: Mapping[str, object]) -> list[str]:
    """The hardware of a host, with memory in GiB because a kernel keeps a little more or less for itself."""
    memory, about = facts.get("memory_bytes"), facts.get("about")
    model = about.get("model") if isinstance(about, Mapping) else None
    gib = round(memory / GIB) if isinstance(memory, int | float) else None
    return [str(part) for part in (*map(facts.get, HARDWARE), gib, model)]


def answer(pairs: PairsOfHosts) -> list[str]:
    """How many pairs there are, then each comparison over all cases, with how far the pairs agree."""
    return [sentence for part in answers(pairs).values() for sentence in part]


def answers(pairs: PairsOfHosts) -> dict[str, list[str]]:
    """The sentences of :func:`answer` by what they are about."""
    machines = dict.fromkeys(text for run in pairs.runs for text in warnings_of_machines(run.run))
    return {"The pairs": [_count(pairs), *machines], "Over the pairs": list(_effects(pairs))}


def _count(pairs: PairsOfHosts) -> str:
    count, runs = len(pairs.pairs), len(pairs.runs)
    counted = f" ({runs} runs)" if runs > count else ""
    if count < LEAST_PAIRS:
        return (
            f"{count} pairs of hosts{counted}: no interval over pairs, for {count} do not show how far a further one "
            f"would lie; at least {LEAST_PAIRS} are needed. Every interval below is of one pair."
        )
    return (
        f"{count} pairs of hosts{counted}, taken as a sample of pairs: an interval over pairs rests on how far these "
        "differ, with Student's t of n − 1 degrees of freedom for n pairs, not on the number of trials."
    )


def _effects(pairs: PairsOfHosts) -> Iterator[str]:
    table = pairs.table.effects
    if table.empty:
        yield "No two levels of a factor were measured in one block: there is no effect."
        return
    _, is_overall = stats.comparisons(table)
    rows = [row | {"row": place} for place, row in enumerate(stats.rows_of(table)) if is_overall[place]]
    ordered = sorted(rows, key=lambda row: (not row["established"], row["n_pairs"] < LEAST_PAIRS))
    for row in ordered[:MOST_SENTENCES]:
        yield _effect(pairs, row)
    if len(ordered) > MOST_SENTENCES:
        yield f"{len(ordered) - MOST_SENTENCES} more comparisons stand in the table."


def _effect(pairs: PairsOfHosts, row: stats.Row) -> str:
    name, count = one_line(stats.compared_label(row)), row["n_pairs"]
    if any(row[column] != stats.EVERY for column in stats.POOLED):
        name += f", {stats.row_label(row)}"
    effects = pairs.table.effects_of_pairs
    pair_rows = stats.rows_of(effects[effects["row"] == row["row"]])
    by_pair = [(pairs.pairs[pair_row["pair"]].name, pair_row) for pair_row in pair_rows]
    if np.isnan(row["p_value"]):
        spans = listed([f"{_span(pair_row)} in {pair}" for pair, pair_row in by_pair], MOST_VALUES) or "in no pair"
        few = f"pairs with an interval of their own: {count} of at least {LEAST_PAIRS}"
        return f"{name}: {spans}; nothing is said over pairs ({few})."
    established = "" if row["established"] else ": not established over pairs"
    opposite = [
        pair
        for pair, pair_row in by_pair
        if (row["change_pct"] > 0 and pair_row["high_pct"] < 0) or (row["change_pct"] < 0 and pair_row["low_pct"] > 0)
    ]
    lies = "it goes the other way: the interval of that pair lies there."
    against = f" In {listed(opposite)} {lies}" if opposite else ""
    return f"{name}: {_span(row)} over {count} pairs{established}. {_heterogeneity(row)}{against}"


def _heterogeneity(row: stats.Row) -> str:
    ends = (row[f"predicted_{end}_pct"] for end in ("low", "high"))
    further = f"[{', '.join(f'{end:+.1f}' if abs(end) < 1000 else f'{end:+.2g}' for end in ends)}]"
    if row["tau_pct"] == 0:
        return f"The pairs differ no more than their blocks do (I² 0 %); a further pair would lie in {further}."
    tau = f"{row['tau_pct']:.2g} % (tau; I² {100 * row['i2']:.0f} %)"
    return f"The pairs differ among themselves by {tau}; a further pair would lie in {further}."


def _span(row: stats.Row) -> str:
    return span({**row, **{f"change_{end}_pct": row[f"{end}_pct"] for end in ("low", "high")}}, "change")


def confounded(pairs: PairsOfHosts) -> list[str]:
    """The facts whose effect cannot be told from the pair, and that nothing is ranked."""
    if not pairs.facts:
        return ["Of what the runs note of the hosts nothing differs between the pairs, but for names.", NO_RANKING]
    one_each, mixed, several = [], [], []
    for fact in pairs.facts:
        name, counts = one_line(fact.name, LONGEST_VALUE), fact.counts
        if max(counts.values()) == 1:
            one_each.append(name)
        elif min(counts.values()) > 1:
            several.append(name)
        else:
            alone = [
                f"{pair.name} alone has {one_line(value, LONGEST_VALUE)}"
                for pair, value in zip(pairs.pairs, fact.values, strict=True)
                if counts[value] == 1
            ]
            mixed.append(f"{name}: {listed(alone, MOST_VALUES)}: what that does cannot be told from the pair.")
    names, others = (listed(facts, MOST_SENTENCES) for facts in (one_each, several))
    first = f"One pair a value: {names}. What that does cannot be told from the pair, and nothing is said of it."
    last = f"Several pairs a value: {others}. These pairs differ in other facts as well: it is not tested here."
    return [*([first] if names else []), *mixed, *([last] if others else []), NO_RANKING]
