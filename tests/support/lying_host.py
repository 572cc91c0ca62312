"""A hacked host: by seed, it replaces what its commands print."""

import dataclasses
import itertools
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lab.hosts import Result
from lab.hosts.ssh import SshHost
from support.local_lab import Bench

# texts that would act if somebody ran, opened or showed them
BAIT = "pwned-by-a-lying-host"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil.example\x1b\\click\x9b31m\x7f\r\b"
MARKUP = f"<script>{BAIT}</script><img src=x onerror=alert(1)>[x](javascript:alert(1))|`=cmd|'/C calc'!A1"
SHELL = f"$(touch {BAIT}); `touch {BAIT}` | touch {BAIT}\n-oProxyCommand=touch {BAIT}"
NUMBERS = ("-1", "nan", "inf", "1e308", "9" * 400, "0", "0x10", "٣", "1_0", "-0", "")
ASKED = ("stopwatch.pl", "iperf3", "smbstatus", "hostname $(", "ip -o", "meminfo", "gio", "ssh-keygen", "noise.pl",
         "/proc/self/mounts", "samples", "ss -tmin", "uname", "/proc/sys", "ssh -o", "perl")  # fmt: skip
PATHS = ("../../" + BAIT, "/tmp/" + BAIT, "~/" + BAIT)


def _number(text: str, chance: random.Random) -> str:
    """Replace one of its numbers, or all."""
    bad = chance.choice(NUMBERS)
    places = list(re.finditer(r"[0-9]+(\.[0-9]+)?", text))
    if not places or chance.random() < 0.3:
        return re.sub(r"[0-9]+(\.[0-9]+)?", bad, text)
    place = chance.choice(places)
    return text[: place.start()] + bad + text[place.end() :]


def _word(text: str, chance: random.Random) -> str:
    """Replace one word: such lies are most likely to be believed."""
    bad = chance.choice((ESCAPES, MARKUP, SHELL, *PATHS, "x" * 10_000, "-oProxyCommand=id", "\u202eabc", "\0"))
    places = list(re.finditer(r"[^\s\"{}:,]+", text))
    if not places:
        return bad
    place = chance.choice(places)
    return text[: place.start()] + bad + text[place.end() :]


def _json(_: str, chance: random.Random) -> str:
    session = {"session_dialect": float("nan")}
    values: tuple[Any, ...] = ([], {}, None, 1, "x", [[]], [None], {"end": 1}, {"sessions": {"1": session}})
    deep = "[" * 5000 + "]" * 5000
    return chance.choice((deep, '{"a":' * 5000 + "1" + "}" * 5000, "[1e999]", '["\\ud800"]', *map(json.dumps, values)))


def _twice(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line * chance.choice((1, 2, 3)) for line in lines)


LIES: dict[str, Callable[[str, random.Random], str]] = {
    "binary": lambda _, chance: chance.randbytes(3000).decode(errors="replace"),
    "huge": lambda text, chance: (text or "x\n") + chance.choice(("x", "1", "[", "a b\n", "9\n")) * 4_000_000,
    "truncated": lambda text, chance: text[: chance.randrange(len(text) + 1)],
    "empty": lambda _, __: "",
    "localized": lambda _, __: "Fehler: Datei oder Verzeichnis nicht gefunden\nGerät ist belegt 1,5 Ко\n",
    "number": _number,
    "word": _word,
    "json": _json,
    "escapes": lambda text, _: ESCAPES + text + ESCAPES,
    "markup": lambda text, _: text + MARKUP,
    "path": lambda _, chance: chance.choice(PATHS) + "\n",
    "twice": _twice,
}


@contextmanager
def answering(
    answer: Callable[[SshHost, tuple[str, ...], bool, Callable[[], Result]], Result],
) -> Iterator[pytest.MonkeyPatch]:
    """Let ``answer`` answer every command; it gets the host, words, whether as root, and what asks the host itself."""
    honest = SshHost._execute

    def execute(
        host: SshHost, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = ""
    ) -> Result:
        return answer(host, argv, root, lambda: honest(host, argv, root, given, deadline_s, stop_mark))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SshHost, "_execute", execute)
        yield patch


@contextmanager
def lying(seed: int) -> Iterator[list[str]]:
    """One host tells one kind of lie, now and then or always about one command; yields what was lied about."""
    chance = random.Random(seed)
    kind = chance.choice(sorted(LIES))
    about, role = chance.choice(("", *ASKED)), chance.choice(("client", "server"))
    often = 0.9 if about else chance.choice((0.01, 0.05, 0.3))
    lies: list[str] = [f"seed {seed}: {role} tells lies of kind {kind} about {about!r}, {often:.0%} of the time"]
    numbers = itertools.count()

    def answer(host: SshHost, argv: tuple[str, ...], _: bool, go: Callable[[], Result]) -> Result:
        result, number = go(), next(numbers)
        if host.name != role or about not in " ".join(argv) or chance.random() >= often:
            return result
        lies.append(f"{number}: {' '.join(argv)[:100]}")
        exit_code = chance.choice((*[result.exit_code] * 6, 1, 255, -1))
        if chance.random() < 0.25:
            return dataclasses.replace(result, stderr=LIES[kind](result.stderr, chance), exit_code=exit_code)
        return dataclasses.replace(result, stdout=LIES[kind](result.stdout, chance), exit_code=exit_code)

    with answering(answer):
        yield lies


@pytest.fixture(scope="module")
def liar(new_bench: Callable[..., Bench]) -> Bench:
    """A lab that may end in any state, because a lying host may not restore what it says it did."""
    bench = new_bench()
    bench.changed_hosts(client_ram_disk="64 MiB", server_ram_disk="64 MiB")
    return bench


@pytest.fixture
def clean_hosts(liar: Bench) -> Iterator[None]:
    yield
    liar.lab("restore")
    shutil.rmtree(liar.directory / "results", ignore_errors=True)
