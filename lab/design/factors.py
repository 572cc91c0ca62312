"""THE registry of factors: what a sweep may vary, each factor once, with its levels, baseline, label and cost.

Everything else that knows the factors reads them from here: the keys of a sweep file, the cases and their order, the
columns of a table, the labels of a report. To add a factor, add a :class:`Factor` to FACTORS; whatever brings its
levels about reads them with :meth:`lab.design.case.Case.level`. The options of a protocol's mount (``smb.signing``), of
a tool (``dd.bs``) and of a store (``ext4.data``) are factors too: they are declared by their owner, that protocol, tool
or store.
"""

from __future__ import annotations

import functools
import re
import typing
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from lab.base.units import UNITS, size_label

Level: TypeAlias = str | int

DEFAULT = "default"  # the level that leaves a host, or a mount, as it is
LOCAL = "local"  # in place of a protocol: the server's stores by themselves, without a share
ABSENT = "–"  # stands for an option of another protocol, tool or store: it has no level there
PROMISES = ("async", "sync", "always")  # of a server about written data, the least first
OWN, OTHER = "own", "other"
BY_CLIENT = (OWN, OTHER)  # of whom a client reads: itself, or another one; each wrote through its mount
OPTION = re.compile(r"([a-z0-9]+)\.([a-z0-9_]+)")


class Direction(StrEnum):
    """Which way the bytes go, as the client sees it: ``write`` is client to server."""

    WRITE = "write"
    READ = "read"


class Plot(StrEnum):
    """Where a factor stands in the split-plot design: the more expensive a change of it, the earlier in this list."""

    WHOLE = "whole plot"  # the links go down and up
    SUB = "sub-plot"  # servers restart, for sockets take their buffers when they are made
    SUB_SUB = "sub-sub-plot"  # the share is served anew
    INSIDE = "inside"  # costs nothing: in random order


@dataclass(frozen=True)
class Whole:
    """A level that is a whole number between two."""

    least: int
    most: int


@dataclass(frozen=True)
class Count:
    """A level that is a whole number between two, which cases and trials keep as text."""

    least: int
    most: int


@dataclass(frozen=True)
class Text:
    """A level that is a text which matches a pattern as a whole."""

    pattern: str


class SizeOrDefault:
    """A level that is a size, or the word ``default``."""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One thing that a sweep varies.

    ``level`` says what one level can be in a sweep file, which :mod:`lab.design.level_types` reads: a type, or one of
    the classes above. ``default`` are the levels where a sweep does not give any (empty: it must). Other levels are
    compared with the ``baseline``; None stands for the smallest, or the first of the alphabet. ``label`` and ``write``
    make of the name and of a level what a person reads. A factor with a ``column`` is a field of every case and trial;
    any other is an entry of their ``options``, and its levels are text.
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
        """The words that a level can be, where only some can; empty where any text can, or none."""
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
        write=lambda level: level if level == LOCAL else level.upper(),  # of the others each is an acronym
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
        level=Count(1, 16),
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
# The factors that are entries of ``options``, and the level that holds where a run folder has none
OPTIONS = {factor.name: str(factor.default[0]) for factor in FACTORS if not factor.column}
# What a measurement of the link by itself depends on
NETWORK = tuple(factor.name for factor in FACTORS if factor.column and factor.plot in (Plot.WHOLE, Plot.SUB))
LINK = (*NETWORK, "clients")  # and the factors that the ceiling of the link depends on


CHOOSERS = ("protocol", "tool", "store")  # the factors whose levels decide which options a case has


@functools.lru_cache(maxsize=1024)
def owner_of(name: str) -> str:
    """The protocol, tool or store that an option belongs to; empty for a factor that every case has."""
    match = OPTION.fullmatch(name)
    return match[1] if match else ""


def chooser_of(name: str, levels: Mapping[str, Container[object]]) -> str:
    """The factor whose level decides whether a case has an option: ``tool`` or ``store`` where its owner is one of
    their ``levels``, or ``protocol``; empty for a factor that every case has.
    """
    owner = owner_of(name)
    if not owner:
        return ""
    return next((chooser for chooser in ("tool", "store") if owner in levels.get(chooser, ())), "protocol")


def plot_of(name: str) -> Plot:
    """Where a factor stands in the split-plot design; some options start the server anew."""
    if name in BY_NAME:
        return BY_NAME[name].plot
    return Plot.SUB_SUB if name.endswith((".server", ".time_machine")) else Plot.INSIDE


def label_of(name: str) -> str:
    """A factor as a person writes it: ``MTU``, ``TCP buffer``, ``SMB signing``."""
    if name in BY_NAME:
        return BY_NAME[name].label
    owner, option = owner_of(name), name.rpartition(".")[2].replace("_", " ")
    return f"{owner.upper()} {option}" if owner else option


def baseline_of(name: str) -> Level | None:
    """The level that others are compared with; None where that is the smallest one."""
    if name in BY_NAME:
        return BY_NAME[name].baseline
    return DEFAULT if owner_of(name) else None


def can_be_combined(first: str, second: str, levels: Mapping[str, Container[object]]) -> bool:
    """Whether two factors can be combined, where these ``levels`` are compared.

    An option cannot with the factor that its owner is a level of, nor with an option of another such owner.
    """
    chooser, other_chooser = chooser_of(first, levels), chooser_of(second, levels)
    if chooser == other_chooser:
        return owner_of(first) == owner_of(second)
    return second != chooser and first != other_chooser


def rank(level: str) -> tuple[bool, tuple[int, ...], str]:
    """What levels that are text are sorted by: versions (``3.0.2``) and sizes (``64 KiB``) as such, then words.

    Of words, those of ``server_sync`` come last, the one that promises least first: every protocol has that.
    """
    number, _, unit = level.partition(" ")
    if unit in UNITS and re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})*", number):
        return False, tuple(UNITS[unit] * int(part) for part in number.split(".")), ""
    return True, (PROMISES.index(level),) if level in PROMISES else (), level
