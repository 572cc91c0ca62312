"""The parts of a run's report, for page and post: sentences, figures, and every table of lab.report.registry."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from lab.report import registry
from lab.report.analysis import Analysis
from lab.report.answer import answer_table
from lab.report.bottlenecks import count_limits, stages_table
from lab.report.document import Section
from lab.report.prose import TEXTS, drift_sentence, interaction_sentences
from lab.report.tables import TextTable
from lab.results.json_object import RunJson
from lab.results.trial import emulated
from lab.stats.stages import fastest_cases


@dataclass(frozen=True)
class Part:
    """What a section has around its ``tables``, which are those of the registry unless ``words`` makes another one.

    Without any table the section is left out, or says ``if_none``; one with a figure alone needs no table. ``title`` is
    that of the first table unless it is given.
    """

    question: str
    tables: tuple[str, ...] = ()
    text: str = ""
    figure: str = ""
    leads: bool = False
    title: str = ""
    conclusion: Callable[[Analysis], str] = lambda run: ""
    words: Callable[[Analysis], TextTable] | None = None
    if_none: str = ""


OF_POST = (
    Part("fastest", ("speeds",), TEXTS["throughput"], "throughput", leads=True),
    Part("fastest", ("clients",)), Part("fastest", ("requests",)), Part("fastest", ("frames",)),
    Part("fastest", ("capacity",)), Part("fastest", ("files",), TEXTS["files"]),
    Part("limits", ("waterfall",), TEXTS["waterfall"], "waterfall", leads=True,
         words=lambda run: stages_table(fastest_cases(run.waterfall))),
    Part("limits", ("store", "store-effects"), TEXTS["store"]),
    Part("limits", ("limits",), TEXTS["limited"], leads=True, conclusion=lambda run: count_limits(run.verdicts)),
    Part("changes", ("effects",), TEXTS["effects"], "effects", leads=True),
    Part("changes", ("interactions",), TEXTS["interactions"], "interactions",
         conclusion=lambda run: interaction_sentences(run.interactions)),
    Part("changes", ("shares",), TEXTS["shares"], "shares"),
    Part("limits", (), TEXTS["cpu_cost"], "cpu_cost", title="What it costs in CPU"),
    Part("trust", (), TEXTS["timeline"], "timeline", leads=True, title="Did anything drift?",
         conclusion=lambda run: drift_sentence(run.drift)),
)  # fmt: skip
REMARKS = Part("trust", ("remarks",), TEXTS["remarks"], if_none="None.")
OF_TRUST = (Part("trust", ("lost",), if_none="None."), Part("trust", ("counted",)), REMARKS)
OF_ALL = (Part("more", ("settings",)), Part("more", ("ceilings",)))


def sections(run: Analysis, path: str) -> list[Section]:
    """The sections of a post; ``path`` is the run folder as a command names it."""
    answer = Section("The answer", tables=[answer_table(run, path)], question="answer", leads=True)
    placed = {name for part in (*OF_POST, *OF_TRUST, *OF_ALL) for name in part.tables}
    others = [Part("more", (name,)) for name in registry.OF_RUN if name not in placed]
    return [answer, *_fill((*OF_POST, *others), run)]


def details(described: RunJson, run: Analysis) -> list[Section]:
    """The sections of the page beyond the post: every setting, void and failed trials, the run and the hosts."""
    return [*_fill(OF_TRUST, run), _about_run(described), hosts(described), *_fill(OF_ALL, run)]


def _fill(parts: Iterable[Part], run: Analysis) -> Iterator[Section]:
    for part in parts:
        known = [registry.OF_RUN[name] for name in part.tables]
        made = [part.words(run)] if part.words else [words for table in known if (words := table.words(run))]
        title = part.title or known[0].title
        section = Section(title, part.text, part.figure, made, part.conclusion(run), part.question, part.leads)
        if part.if_none and not any(table.rows for table in made):
            yield replace(section, text=part.if_none, tables=[])
        elif made or not known:
            yield section


def _about_run(run: RunJson) -> Section:
    keys = ("name", "started_at", "finished_at", "seed", "code_version", "schema")
    facts = {key: str(run.get(key, "–")) for key in keys}
    if replaced := run.get("replaced"):
        facts["replaced"] = ", ".join(f"{count} {kind}" for kind, count in replaced.items())
    facts["finished_at"] = str(run.get("finished_at") or "not finished: the run was cut short, or is still going on")
    again = (
        f"The run {facts['name']} began at {facts['started_at']}; its end: {facts['finished_at']}. To measure it "
        "again: save the sweep, which this page has, as a file, and `lab run FILE` with a hosts file of your own."
    )
    table = TextTable(["", ""], list(facts.items()), is_text=True)
    return Section("The run", tables=[table], conclusion=again, question="how", leads=True)


def fact(value: object) -> str:
    """A fact of a host as a person reads it."""
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
    """The facts of both hosts."""
    both = run.get("hosts", {})
    names = dict.fromkeys(name for facts in both.values() for name in facts)
    rows = [[name, *(fact(facts.get(name)) for facts in both.values())] for name in names]
    about = f"{emulated(run)}." if emulated(run) else ""
    return Section("The hosts", about, tables=[TextTable(["", *both], rows, is_text=True)], question="how")
