"""The parts of a run's report: what was found, figures and tables, the same for the page and for the post."""

from __future__ import annotations

from collections.abc import Mapping

from lab.report import bottlenecks, evidence, own_numbers, tables
from lab.report.analysis import Analysis
from lab.report.answer import answer_table
from lab.report.prose import TEXTS, drift_sentence, interaction_sentences
from lab.report.render import Section
from lab.report.several_clients import clients_table
from lab.report.store import store_table
from lab.report.tables import TextTable
from lab.report.waterfall import waterfall_table
from lab.results.trial import RunJson, emulated
from lab.stats.waterfall import fastest_cases


def sections(run: Analysis, path: str) -> list[Section]:
    """What a post has of a run; ``path`` is the run folder as a command names it."""
    return [
        Section("The answer", tables=[answer_table(run, path)], question="answer", leads=True),
        *_speeds(run),
        *_limits(run),
        *_changes(run),
        Section("What it costs in CPU", TEXTS["cpu_cost"], "cpu_cost", question="limits"),
        Section("Did anything drift?", TEXTS["timeline"], "timeline", [], drift_sentence(run.drift), "trust", True),
    ]


def _speeds(run: Analysis) -> list[Section]:
    """How fast everything was: transfers, what tools measured of themselves, and files where a tree was moved."""
    measured = {
        "What several clients get": clients_table(run.some),
        "How long requests took": own_numbers.requests_table(run.some),
        "Which frames came late": own_numbers.frames_table(run.some),
        "What the file systems have room for": own_numbers.capacity_table(run.some),
    }
    table = tables.comparison(run.summary)
    return [
        Section("Throughput", TEXTS["throughput"], "throughput", [table], question="fastest", leads=True),
        *(Section(title, tables=[table], question="fastest") for title, table in measured.items() if table),
        *_files(run),
    ]


def _files(run: Analysis) -> list[Section]:
    """What a tree comes to a file; nothing where one file was moved."""
    if not len(run.file_rates):
        return []
    return [Section("A file", TEXTS["files"], tables=[tables.files(run.file_rates)], question="fastest")]


def _limits(run: Analysis) -> list[Section]:
    """What each stage carries by itself, and which of them limited what."""
    fastest, limits = waterfall_table(fastest_cases(run.waterfall)), bottlenecks.limits_table(run.verdicts)
    found = bottlenecks.count_limits(run.verdicts)
    return [
        Section(
            "From the disk to the tool", TEXTS["waterfall"], "waterfall", [fastest], question="limits", leads=True
        ),
        *_store(run),
        Section("What limited it", TEXTS["limited"], tables=[limits], finding=found, question="limits", leads=True),
    ]  # fmt: skip


def _changes(run: Analysis) -> list[Section]:
    """What each setting changes, alone and with another."""
    together, changed = tables.interactions(run.interactions), tables.effects(run.effects)
    found = interaction_sentences(run.interactions)
    shares = tables.shares(run.shares)
    return [
        Section("What each setting changes", TEXTS["effects"], "effects", [changed], question="changes", leads=True),
        Section(
            "Do settings act on each other?", TEXTS["interactions"], "interactions", [together], found, "changes"
        ),
        Section("What the variation goes with", TEXTS["shares"], "shares", [shares], question="changes"),
    ]  # fmt: skip


def _store(run: Analysis) -> list[Section]:
    """The server's store by itself, where it was measured."""
    table = store_table(run.store_numbers)
    if not table:
        return []
    compared = [tables.effects(run.store_effects)] if len(run.store_effects) else []
    return [Section("The store by itself", TEXTS["store"], tables=[table, *compared], question="limits")]


def details(described: RunJson, run: Analysis) -> list[Section]:
    """What the page has beyond the post: every setting, what was void or failed and why, and what was asked for."""
    lost, keys = tables.lost(run.trials.frame), ("name", "started_at", "finished_at", "seed", "code_version", "schema")
    facts = {key: str(described.get(key, "–")) for key in keys}
    if replaced := described.get("replaced"):
        facts["replaced"] = ", ".join(f"{count} {kind}" for kind, count in replaced.items())
    facts["finished_at"] = str(
        described.get("finished_at") or "not finished: the run was cut short, or is still going on"
    )
    odd = evidence.remarks(run.some)
    about_run = TextTable(["", ""], list(facts.items()), is_text=True)
    return [
        Section(
            "Void and failed trials", "" if lost.rows else "None.", tables=[lost] if lost.rows else [],
            question="trust",
        ),
        Section("What both hosts counted", tables=[evidence.proof(run.some)], question="trust"),
        Section("Remarks", TEXTS["remarks"] if odd else "None.", tables=[odd] if odd else [], question="trust"),
        Section("The run", tables=[about_run], finding=_how(facts), question="how", leads=True),
        hosts(described),
        Section("Every setting", tables=[tables.settings(run.summary)]),
        Section("The link itself (iperf3)", tables=[tables.settings(run.ceilings)]),
    ]  # fmt: skip


def _how(facts: Mapping[str, str]) -> str:
    """When it was measured, and how to do it again."""
    return (
        f"The run {facts['name']} began at {facts['started_at']}; its end: {facts['finished_at']}. To measure it "
        "again: save the sweep, which this page has, as a file, and `lab run FILE` with a hosts file of your own."
    )


def fact(value: object) -> str:
    """What a host says of itself, as a person reads it."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {fact(part)}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(fact, value)) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "–" if value in (None, "") else str(value)


def hosts(run: RunJson) -> Section:
    """What both hosts are, as they say."""
    both = run.get("hosts", {})
    names = dict.fromkeys(name for facts in both.values() for name in facts)
    rows = [[name, *(fact(facts.get(name)) for facts in both.values())] for name in names]
    about = f"{emulated(run)}." if emulated(run) else ""
    return Section("The hosts", about, tables=[TextTable(["", *both], rows, is_text=True)], question="how")
