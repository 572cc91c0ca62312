"""Figures of effects and interactions: one axis of ratios, the largest first, and what is left out of it is told."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from support.drawn import footer, marks, png, row_names
from support.synthetic_frames import cases, noise, run

from lab import stats
from lab.report import figures


def forest(figure: Figure) -> dict[str, tuple[float, bool]]:
    """Of each row of a figure of comparisons, by its place and name: where its mean is, and whether it is filled."""
    (axes,) = figure.axes
    names = row_names(axes)
    alike = [line for line in axes.lines if line.get_marker() in ("D", "<", ">", "o")]
    means = {
        int(place): (float(mean), line.get_markerfacecolor() != "white")
        for line in alike
        for mean, place in np.column_stack([line.get_xdata(), line.get_ydata()])
    }
    assert sorted(means) == list(range(len(names)))
    return {f"{place} {names[place]}": means[place] for place in sorted(means)}


def wide(rng_seed: int = 1, blocks: int = 5) -> pd.DataFrame:
    of = cases(tool=["cp", "rsync"], mtu=[1500, 9000], tcp_space=["default", 65536])
    change = 0.1 * (of["mtu"] == 9000) - 0.7 * (of["tool"] == "rsync") + 0.3 * (of["tcp_space"] == 65536)
    return run(of, noise(np.random.default_rng(rng_seed), of, blocks) + change.to_numpy()[:, None])


def test_effects_lie_on_one_axis_of_ratios_the_largest_overall_row_first() -> None:
    trials = wide()
    table = stats.effects(stats.grid(trials))
    rows = forest(figures.effects(trials))
    overall = [name.split(" ", 1)[1] for name in rows if "→" in name]
    assert overall == ["tool cp → rsync", "TCP buffer default → 64 KiB", "MTU 1500 → 9000"]
    assert next(iter(rows)) == "0 tool cp → rsync"
    assert sorted(mean for mean, _ in rows.values()) == pytest.approx(sorted(np.log(table["ratio"])))
    is_filled = {round(mean, 9): filled for mean, filled in rows.values()}
    logs = np.log(table["ratio"].to_numpy()).round(9)
    assert is_filled == dict(zip(logs.tolist(), table["established"], strict=True))


def test_both_intervals_and_every_block_of_an_effect_are_drawn() -> None:
    trials = wide()
    table = stats.effects(stats.grid(trials))
    (axes,) = figures.effects(trials).axes
    thick, thin = [some for some in axes.collections if isinstance(some, LineCollection)]
    for lines, kind in ((thick, "moderated_"), (thin, "")):
        ends = np.array([[start[0], end[0]] for start, end in lines.get_segments()])
        expected = np.log1p(table[[f"{kind}low_pct", f"{kind}high_pct"]].to_numpy() / 100)
        np.testing.assert_allclose(np.sort(ends, axis=0), np.sort(expected, axis=0))
    assert thick.get_linewidth()[0] > 3 * thin.get_linewidth()[0]  # type: ignore[index]
    ratios = np.concatenate([row.log_ratios[0] for _, row in stats.block_effects(stats.grid(trials))])
    low, high = axes.get_xlim()
    np.testing.assert_allclose(
        np.sort(marks(axes)[:, 0]), np.sort(ratios[(ratios >= low) & (ratios <= high)]), atol=0.05
    )
    assert {"0", "-50", "+20"} <= {label.get_text() for label in axes.get_xticklabels()}


def test_interactions_are_one_plot_of_the_interaction() -> None:
    trials = wide(3)
    table = stats.interactions(stats.grid(trials))
    rows = forest(figures.interactions(trials))
    assert len(rows) == len(table)
    assert next(iter(rows)).startswith("0 MTU 1500 → 9000 with TCP buffer default → 64 KiB")
    assert sorted(mean for mean, _ in rows.values()) == pytest.approx(sorted(np.log1p(table["interaction_pct"] / 100)))


def test_of_very_many_comparisons_the_overall_rows_are_drawn_and_the_figure_says_so() -> None:
    of = cases(protocol=["afp", "nfs", "smb"], tool=["cp", "rsync"], direction=["write", "read"], mtu=range(1000, 1012))
    figure = figures.effects(run(of, noise(np.random.default_rng(1), of, 3)))
    names = row_names(figure.axes[0])
    assert len(names) == 25
    assert sum("→" in name for name in names) == 14
    assert "rows drawn: 25 of " in footer(figure).get_text()


def test_a_fraction_of_a_grid_has_its_effects_drawn() -> None:
    of = cases(protocol=["afp", "smb"], mtu=[1500, 9000], tcp_space=["default", 65536], store=["ram", "disk"])
    of = of[[row.count(row[0]) % 2 == 0 for row in zip(*(pd.factorize(of[name])[0] for name in of), strict=True)]]
    trials = run(of.reset_index(drop=True), noise(np.random.default_rng(1), of, 4))
    assert "model" in set(stats.effects(stats.grid(trials))["method"])
    png(figures.effects(trials))
