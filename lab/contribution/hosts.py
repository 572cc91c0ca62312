"""Check that the facts of a run's hosts fit each other and the counts of the trials."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lab import platforms
from lab.contribution.flaw import Flaw
from lab.contribution.plausible import Record, is_transfer
from lab.hosts import ROLES
from lab.results.json_object import RunJson
from lab.results.packed_run import RUN
from lab.results.trial import emulated

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class System:
    """What only hosts of one platform report: patterns of their facts, and the system that their perl is built for.
    Also names that only they read back (``effective``) and count (``observed``) in a trial.
    """

    facts: Mapping[str, str]
    perl: str
    effective: frozenset[str]
    observed: frozenset[str]


SYSTEMS: Mapping[str, System] = MappingProxyType({
    "linux": System(
        {"kernel": r"Linux \S", "os": r"(?!(Mac )?OS X\b|macOS\b|Darwin\b)"}, "linux",
        frozenset({"tcp_rmem", "tcp_wmem"}),
        frozenset({"cpu_cores", "link_cores", "throttled_s", "waited_s"}),
    ),
    "macos": System(
        {"kernel": r"Darwin [0-9]+\.", "os": r"(Mac OS X|OS X|macOS) [0-9]+", "interface": r"(?!eth|en[a-z]|wl)"},
        "darwin",
        frozenset({"sendspace", "recvspace"}),
        frozenset({"tx_errors", "rx_errors", "swapped_bytes"}),
    ),
})  # fmt: skip
# Processors, and the perl that cannot run on them
PROCESSORS = {r"Intel|AMD|EPYC|Xeon": r"for (aarch64|arm)", r"Apple M|Cortex|Neoverse": r"for (x86_64|i[3-6]86)"}
LOCAL_HOSTS_FILE = re.compile(r"hosts\.local(\.(?P<name>[^/]+))?\.ini")
LEAST_ALIKE = 0.1  # share of trials with equal free memory on both hosts: never on two machines, often on one
FIRST_YEAR_NAMED = 26  # macOS 26 came after 15


def check_hosts(lines: Sequence[tuple[int, Record]], run: RunJson) -> Iterator[Flaw]:
    """Contradictions among the facts of a run's hosts, and between these and its trials; each is told once."""
    transfers = [trial for _, trial in lines if is_transfer(trial) and trial["status"] != "failed"]
    problems = []
    if "instance" not in run:
        problems.append("instance: missing: every lab writes there which local lab it was, or null")
    if "emulated" in run and (run["emulated"] or "") != emulated(run):
        problems.append(f"emulated: {run['emulated']!r:.60}, and {emulated(run) or None!r} by its hosts")
    problems += [problem for role, facts in run.get("hosts", {}).items() for problem in _of_host(role, facts)]
    problems += [problem for trial in transfers for problem in _of_trial(trial, run)]
    if run.get("instance") is None:
        problems += [f"instance: no local lab is named, and {problem}" for problem in _one_machine(transfers, run)]
    yield from (Flaw(RUN, None, problem) for problem in dict.fromkeys(problems))


def _of_host(role: str, facts: Facts) -> Iterator[str]:
    name, perl, cpu = str(facts.get("platform")), str(facts.get("tools", {}).get("perl", "")), str(facts.get("cpu"))
    if platforms.named(name) is None:
        yield f"hosts: {role}: platform {name!r:.40}: this lab knows no such platform"
    if (system := SYSTEMS.get(name)) is None:
        return
    for fact, pattern in system.facts.items():
        if not re.match(pattern, str(facts.get(fact))):
            yield f"hosts: {role}: {fact} {facts.get(fact)!r:.60} is none of {name}"
    is_emulated = cpu.startswith("EMULATED")
    if not is_emulated and str(facts.get("about", {}).get("model")).startswith("EmulatedMac"):
        yield f"hosts: {role}: cpu {facts.get('cpu')!r:.40} is none of an emulated Mac, and the model is one's"
    if "built for" in perl and system.perl not in perl and not is_emulated:
        yield f"hosts: {role}: its perl ({perl[-50:]}) is none of {name}"
    if problem := _of_darwin(facts):
        yield f"hosts: {role}: {problem}"
    if any(re.search(processor, cpu) and re.search(of_perl, perl) for processor, of_perl in PROCESSORS.items()):
        yield f"hosts: {role}: cpu {cpu!r:.40} does not run its perl ({perl[-50:]})"
    yield from (f"hosts: {role}: {problem}" for problem in _of_limits(facts))


def _of_darwin(facts: Facts) -> str:
    """macOS 10.x has Darwin x + 4, macOS 11 to 15 have Darwin 20 to 24, and macOS 26 has Darwin 25."""
    os = re.match(r"(?:Mac OS X|OS X|macOS) ([0-9]{1,3})(?:\.([0-9]{1,3}))?", str(facts.get("os")))
    kernel = re.match(r"Darwin ([0-9]{1,3})\.", str(facts.get("kernel")))
    if not os or not kernel:
        return ""
    major, minor = int(os[1]), int(os[2] or 0)
    darwin = minor + 4 if major == 10 else major - 1 if major >= FIRST_YEAR_NAMED else major + 9
    return "" if int(kernel[1]) == darwin else f"{os[0]} has Darwin {darwin}, and not {kernel[1]}"


def _of_limits(facts: Facts) -> Iterator[str]:
    for least, most in (("available_bytes", "memory_bytes"), ("mtu_min", "mtu"), ("mtu", "mtu_max")):
        low, high = facts.get(least), facts.get(most)
        if isinstance(low, int) and isinstance(high, int) and low > high:
            yield f"{least} {low} is more than {most} {high}"


def _of_trial(trial: Record, run: RunJson) -> Iterator[str]:
    """Counts of a trial that contradict the facts of their host."""
    for role in map(str, ROLES):
        facts, usage = run.get("hosts", {}).get(role), trial["observed"].get(role)
        if not isinstance(facts, dict):
            if usage:
                yield f"hosts: no {role}, and trials such as {trial['trial_id']} have what it counted"
            continue
        yield from (f"hosts: {role}: {problem}" for problem in _of_usage(trial, role, facts, usage if usage else {}))


def _of_usage(trial: Record, role: str, facts: Facts, usage: Mapping[str, Any]) -> Iterator[str]:
    platform = str(facts.get("platform"))
    for name, system in SYSTEMS.items() if platform in SYSTEMS else ():
        read_back = [f"{role}_{key}" for key in system.effective if f"{role}_{key}" in trial["effective"]]
        if name != platform and (alien := [*sorted(read_back), *sorted(usage.keys() & system.observed)]):
            yield f"platform {platform}, and trials have {', '.join(alien)}, as {name} alone has"
    if "cores" in usage and usage["cores"] != facts.get("cores"):
        yield f"cores {facts.get('cores')}, and {usage['cores']} in trials such as {trial['trial_id']}"
    if isinstance(memory := usage.get("memory_least_bytes"), int) and memory > (facts.get("memory_bytes") or memory):
        yield f"memory_bytes {facts.get('memory_bytes')}, and trials such as {trial['trial_id']} had {memory} left"
    if trial["status"] == "ok" and trial["mtu"] > (facts.get("mtu_max") or trial["mtu"]):
        yield f"mtu_max {facts.get('mtu_max')}, and {trial['trial_id']} has MTU {trial['mtu']}"


def _one_machine(transfers: Sequence[Record], run: RunJson) -> Iterator[str]:
    """Signs that both hosts belong to a local lab, or are one machine."""
    if match := LOCAL_HOSTS_FILE.fullmatch(str(run.get("hosts_file", ""))):
        yield f"hosts_file {match[0]} is that of one"
    pairs = [(trial["observed"].get("client"), trial["observed"].get("server")) for trial in transfers]
    both = [(client, server) for client, server in pairs if isinstance(client, dict) and isinstance(server, dict)]
    if any(isinstance(facts, dict) and facts.get("cpu") == "UML" for facts in run.get("hosts", {}).values()):
        yield "cpu UML is that of a guest of one"
    if any("link_cores" in usage for pair in both for usage in pair):
        yield "trials count link_cores, which a local lab alone has"
    left = [tuple(usage.get("memory_least_bytes") for usage in pair) for pair in both]
    alike = sum(client is not None and client == server for client, server in left)
    if alike > 1 and alike >= LEAST_ALIKE * len(left):
        yield f"client and server had the same memory left in {alike} of {len(left)} trials: they are one machine"
