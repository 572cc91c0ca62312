"""How a program gets onto a Linux host. Each system has its own way, and a NAS is recognized by its own files."""

from functools import cache

from pydantic import Field

from lab.base.scripts import beside
from lab.base.validation import Model, read_text, read_toml, validate
from lab.hosts.command import Command, script
from lab.hosts.host import Host

FILE = beside(__file__, "systems.toml")
# Prints those of the words that are a file, or a program in the PATH
SIGNS = 'for sign; do case $sign in /*) [ -e "$sign" ];; *) command -v "$sign" >&2;; esac && echo "$sign"; done; :'


class System(Model):
    """A table of systems.toml, which says what its keys are."""

    signs: tuple[str, ...]
    install: str = ""
    other: str = ""
    why_not: str = ""
    names: dict[str, str] = Field(default_factory=dict)


@cache
def systems() -> tuple[System, ...]:
    """All systems that the lab knows, the more special first; the last one fits any host."""
    tables = read_toml(read_text(FILE, "install the lab anew"), FILE, "a file of systems")["system"]
    return tuple(validate(System, table, FILE) for table in tables)


def ask() -> Command:
    """The command that prints the signs that a host has."""
    return script(SIGNS, *dict.fromkeys(sign for system in systems() for sign in system.signs))


def how_to_install(host: Host, packages: str, or_else: str = "") -> str:
    """What to do to get packages onto a Linux host, or else; they have the names that Debian gives them."""
    seen, words = set(ask().run(host).split()), packages.split()
    system = next(system for system in systems() if seen.issuperset(system.signs))
    if system.why_not:
        return f"{or_else or 'do without'}: {system.why_not}"
    install = system.install if system.names.keys() >= {*words} else system.other or system.install
    remedy = install.format(packages=" ".join({system.names.get(word, word): 0 for word in words}))
    return f"{remedy}, or {or_else}" if or_else else remedy
