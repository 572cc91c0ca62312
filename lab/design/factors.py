"""The registry of factors: all that a sweep may vary, each with its levels, baseline, label and cost.

Keys of a sweep file, cases and their order, columns of a table, and labels of a report follow from it. To add a factor,
add a :class:`Factor` to FACTORS; what applies its levels reads them with :meth:`lab.design.case.Case.level`. Options of
a mount (``smb.signing``), a tool (``dd.bs``) and a store (``ext4.data``) are factors, too: their protocol, tool or
store declares them.
"""

import functools
import re
import typing
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from lab.base.units import UNITS, size_label

Level: TypeAlias = str | int

DEFAULT = "default"  # the level that leaves a host or a mount as it is
LOCAL = "local"  # instead of a protocol: the server's stores by themselves, without a share
ABSENT = "–"  # in place of a level: the option belongs to another protocol, tool or store
PROMISES = ("async", "sync", "always")  # about written data, the weakest first
OWN, OTHER = "own", "other"
BY_CLIENT = (OWN, OTHER)  # the client that wrote what a client reads, through its mount
OPTION = re.compile(r"([a-z0-9]+)\.([a-z0-9_]+)")


class Direction(StrEnum):
    """Which way the bytes go, as the client sees it: ``write`` is client to server."""

    WRITE = "write"
    READ = "read"


class Plot(StrEnum):
    """A factor's plots in the split-plot design, the most expensive change first."""

    WHOLE = "whole plot"  # links go down and up
    SUB = "sub-plot"  # servers restart, because a socket gets its buffers when it is made
    SUB_SUB = "sub-sub-plot"  # the share's server restarts
    INSIDE = "inside"  # in random order, at no cost


@dataclass(frozen=True)
class Whole:
    """Levels that are whole numbers in a range."""

    least: int
    most: int
    as_text: bool = False


@dataclass(frozen=True)
class Text:
    """Levels that are texts that match a pattern."""

    pattern: str


class SizeOrDefault:
    """Levels that are sizes, or the word ``default``."""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One thing that a sweep varies.

    ``level`` is what a level can be in a sweep file: a type, or one of the classes above. ``default`` has the levels if
    the sweep gives none; without it, the sweep must. Other levels are compared with the ``baseline``; None stands for
    the smallest, or the first of the alphabet. ``label`` and ``write`` are for people. A factor with a ``column`` is a
    field of each case and trial; others are entries of their ``options``, with levels as text.
    """

    name: str
    description: str
    level: object
    default: tuple[Level, ...] = ()
    baseline: Level | None = None
    label: str
    write: Callable[[Any], str] = str
    plot: Plot = Plot.INSIDE
    column: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The words that a level can be; empty if it can be any text, or no text."""
        if self.level is Direction:
            return frozenset(map(str, Direction))
        return frozenset([DEFAULT] if self.level is SizeOrDefault else typing.get_args(self.level))


FACTORS = (
    Factor(
        name="protocol",
        description="The protocols to compare, by their names in ``lab/protocols``; or ``local`` alone: no share, but "
        "the server's stores by themselves.",
        level=str,
        label="protocol",
        write=lambda level: level if level == LOCAL else level.upper(),  # protocols are acronyms
        plot=Plot.SUB_SUB,
        column=True,
    ),
    Factor(
        name="tool",
        description="The commands that copy, by their names in ``lab/workloads``.",
        level=str,
        default=("cp",),
        label="tool",
        column=True,
    ),
    Factor(
        name="direction",
        description="As the client sees it: ``write`` is client to server, ``read`` is server to client.",
        level=Direction,
        default=(Direction.WRITE, Direction.READ),
        baseline=Direction.WRITE,
        label="direction",
        column=True,
    ),
    Factor(
        name="mtu",
        description="The MTU in bytes that the data interfaces of both hosts get.",
        level=Whole(576, 65535),
        default=(1500,),
        label="MTU",
        plot=Plot.WHOLE,
        column=True,
    ),
    Factor(
        name="tcp_space",
        description="The size that the TCP buffers of both hosts are pinned to; ``default`` leaves the hosts as they "
        "are.",
        level=SizeOrDefault,
        default=(DEFAULT,),
        baseline=DEFAULT,
        label="TCP buffer",
        write=size_label,
        plot=Plot.SUB,
        column=True,
    ),
    Factor(
        name="store",
        description="What the files lie on, on the server, by the names in ``lab/stores``: a RAM disk, what is there, "
        "or a file system that the lab makes for each case.",
        level=str,
        default=("ram",),
        baseline="ram",
        label="store",
        plot=Plot.SUB_SUB,
        column=True,
    ),
    Factor(
        name="server_sync",
        description="When the server counts written data as safe; ``default`` leaves the server as it is.",
        level=Literal["default", "async", "sync", "always"],
        default=(DEFAULT,),
        baseline=DEFAULT,
        label="server sync",
        plot=Plot.SUB_SUB,
    ),
    Factor(
        name="client_sync",
        description="What ends a write on the client: ``fsync`` of the file after the tool, or only its ``close``.",
        level=Literal["fsync", "close"],
        default=("fsync",),
        baseline="fsync",
        label="flush",
    ),
    Factor(
        name="server_cache",
        description="For reads: whether the server has the file in memory (``warm``) or reads its disk (``cold``).",
        level=Literal["warm", "cold"],
        default=("warm",),
        baseline="warm",
        label="server cache",
    ),
    Factor(
        name="clients",
        description="How many clients move the payload at the same time, each its own: the first of the hosts file, "
        "the first two, and so on.",
        level=Whole(1, 16, as_text=True),
        default=("1",),
        baseline="1",
        label="clients",
    ),
    Factor(
        name="read_from",
        description="For reads: who has written what a client reads. ``default``: the server, or the client where only "
        "its mount leads to the share. ``own``: the client, through its mount; ``other``: the next client.",
        level=Literal["default", "own", "other"],
        default=(DEFAULT,),
        baseline=DEFAULT,
        label="read from",
    ),
    Factor(
        name="placebo",
        description="Labels that change nothing: the effect that they seem to have is that of chance.",
        level=Text("[A-Za-z0-9]{1,16}"),
        default=("none",),
        baseline="none",
        label="placebo",
    ),
)

BY_NAME = {factor.name: factor for factor in FACTORS}
COLUMNS = tuple(factor.name for factor in FACTORS if factor.column)
# The factors that are entries of ``options``, each with its level if a run folder has none
OPTIONS = {factor.name: str(factor.default[0]) for factor in FACTORS if not factor.column}
# The factors of the network
NETWORK = tuple(factor.name for factor in FACTORS if factor.column and factor.plot in (Plot.WHOLE, Plot.SUB))
LINK = (*NETWORK, "clients")  # the factors that the link's ceiling depends on
CHOOSERS = ("protocol", "tool", "store")  # the factors whose levels decide which options a case has


@functools.lru_cache(maxsize=1024)
def owner_of(name: str) -> str:
    """The protocol, tool or store of an option; empty for a factor of every case."""
    match = OPTION.fullmatch(name)
    return match[1] if match else ""


def chooser_of(name: str, levels: Mapping[str, Container[object]]) -> str:
    """The factor whose level decides whether a case has an option: protocol, tool or store; empty for no option."""
    owner = owner_of(name)
    if not owner:
        return ""
    return next((chooser for chooser in ("tool", "store") if owner in levels.get(chooser, ())), "protocol")


def plot_of(name: str) -> Plot:
    """The plot of a factor. Some options restart the server."""
    if name in BY_NAME:
        return BY_NAME[name].plot
    return Plot.SUB_SUB if name.endswith((".server", ".time_machine")) else Plot.INSIDE


def label_of(name: str) -> str:
    """A factor's label for people: ``MTU``, ``TCP buffer``, ``SMB signing``."""
    if name in BY_NAME:
        return BY_NAME[name].label
    owner, option = owner_of(name), name.rpartition(".")[2].replace("_", " ")
    return f"{owner.upper()} {option}" if owner else option


def baseline_of(name: str) -> Level | None:
    """The level that others are compared with; None for the smallest one."""
    if name in BY_NAME:
        return BY_NAME[name].baseline
    return DEFAULT if owner_of(name) else None


def can_be_combined(first: str, second: str, levels: Mapping[str, Container[object]]) -> bool:
    """Whether two factors can be combined, if these ``levels`` are compared.

    An option cannot be combined with the factor that has its owner as a level, or with an option of another such owner.
    """
    chooser, other_chooser = chooser_of(first, levels), chooser_of(second, levels)
    if chooser == other_chooser:
        return owner_of(first) == owner_of(second)
    return second != chooser and first != other_chooser


def rank(level: str) -> tuple[bool, tuple[int, ...], str]:
    """The sort key of levels that are text: versions and sizes by value, words, then promises, the weakest first."""
    number, _, unit = level.partition(" ")
    if unit in UNITS and re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})*", number):
        return False, tuple(UNITS[unit] * int(part) for part in number.split(".")), ""
    return True, (PROMISES.index(level),) if level in PROMISES else (), level
