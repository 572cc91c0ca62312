"""What a sweep file may say."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from lab.base.errors import BadInput
from lab.base.units import LARGEST, Seconds, Share, Size
from lab.base.validation import Model, read_text, validate
from lab.design import stopping
from lab.design.factors import TcpSpace

MOST_TRIALS = 100_000  # a week at best; a plan of many more would not fit into memory
MOST_BLOCKS = 10_000


class Workload(Model):
    """What is moved. ``kind`` names a payload in ``lab/workloads``."""

    kind: str = "file"
    """The payload, by its name in ``lab/workloads``."""
    size: Size
    """How much one trial moves. The RAM disks must hold it and 5 % more."""


class Factors(Model):
    """The levels that a sweep varies; their product, less what cannot be combined, is its cases.

    What a sweep says of options of a protocol's mount (``smb.dialect``) is kept by protocol as it stands there: which
    there are, only the protocol knows.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[str, Any]]

    protocol: tuple[str, ...] = Field(min_length=1)
    """The protocols to compare, by their names in ``lab/protocols``."""
    tool: tuple[str, ...] = Field(("cp",), min_length=1)
    """The commands that copy, by their names in ``lab/workloads``."""
    direction: tuple[Literal["write", "read"], ...] = Field(("write", "read"), min_length=1)
    """As the client sees it: ``write`` is client to server, ``read`` is server to client."""
    mtu: tuple[Annotated[int, Field(ge=576, le=65535, strict=True)], ...] = Field((1500,), min_length=1)
    """The MTU in bytes that the data interfaces of both hosts get."""
    tcp_space: tuple[TcpSpace, ...] = Field(("default",), min_length=1)
    """The size that the TCP buffers of both hosts are pinned to; ``default`` leaves the hosts as they are."""
    store: tuple[Literal["ram", "disk"], ...] = Field(("ram",), min_length=1)
    """Where the files are on the server: on a RAM disk, or on a disk, in ``[share] path`` of the hosts file."""
    server_sync: tuple[Literal["default", "async", "sync", "always"], ...] = Field(("default",), min_length=1)
    """When the server counts written data as safe; ``default`` leaves the server as it is."""
    client_sync: tuple[Literal["fsync", "close"], ...] = Field(("fsync",), min_length=1)
    """What ends a write on the client: ``fsync`` of the file after the tool, or only its ``close``."""
    server_cache: tuple[Literal["warm", "cold"], ...] = Field(("warm",), min_length=1)
    """For reads: whether the server has the file in memory (``warm``) or reads its disk (``cold``)."""
    placebo: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,16}$")], ...] = Field(("none",), min_length=1)
    """Labels that change nothing: the effect that they seem to have is that of chance."""

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        """The options of each protocol, by name, with whatever the sweep gives as their levels."""
        return self.__pydantic_extra__

    @field_validator("*")
    @classmethod
    def _levels_are_unique(cls, levels: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(set(levels)) != len(levels):
            raise ValueError("has a level twice")
        return levels


def _count(levels: Any) -> int:
    return len(levels) if isinstance(levels, list) else 1


class Sweep(Model):
    """A sweep file: what to vary, how often, in which seeded order, and when to stop.

    A transfer of fewer than ``slowest`` bytes a second counts as stuck. ``fraction`` is the share of the grid's cases
    that is run, ``anchors`` how often a block repeats its first case to expose drift. With a ``precision`` (relative
    half-width), blocks go on from ``blocks`` to ``max_blocks`` until the interval of every one of ``effects`` has it.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    """The end of the run folder's name, and the title of its report."""
    description: str = ""
    """What the sweep is to find out, for people."""
    blocks: int = Field(3, ge=1, le=1000, strict=True)
    """How often every case is measured: once a block, in an order of the block's own."""
    seed: int = Field(1, ge=0, lt=LARGEST, strict=True)
    """Decides the order of the trials, and which cases a fraction takes."""
    max_blocks: int | None = Field(None, ge=1, le=MOST_BLOCKS, strict=True)
    """With ``precision``: the number of blocks that ends the run in any case. Default: 10 × ``blocks``."""
    precision: float | None = Field(None, gt=0, lt=1, strict=True)
    """Go on until each interval of ``effects`` has this relative half-width: 0.03 is ± 3 %."""
    effects: tuple[str, ...] | None = Field(None, min_length=1)
    """Factors whose effects are asked for, or two as ``"mtu:tcp_space"``. Default: all that vary but the direction."""
    fraction: Share = 1.0
    """The share of the grid's cases to measure."""
    anchors: int = Field(0, ge=0, le=100, strict=True)
    """How often each block repeats its first case, to expose drift."""
    time_cap: Seconds | None = None
    """No new trial starts after so long."""
    ceiling_seconds: Annotated[Seconds, Field(le=600)] = 1.0
    """How long iperf3 measures the link, in each block and for each MTU and TCP buffer."""
    slowest: Size = 2_000_000
    """A transfer of fewer bytes per second than this counts as stuck, and is ended."""
    workload: Workload
    """What is moved: the table ``[workload]``."""
    factors: Factors
    """What is varied: the table ``[factors]``."""

    @property
    def most_blocks(self) -> int:
        """How many blocks a run may have: ``blocks``, or with a precision ``max_blocks`` (10 × ``blocks``)."""
        return self.blocks if self.precision is None else self.max_blocks or 10 * self.blocks

    def runs_of(self, cases: int) -> int:
        """How many of so many cases the fraction takes: never fewer than it says."""
        return math.ceil(self.fraction * cases - 1e-9)

    @model_validator(mode="after")
    def _blocks_fit_the_rule(self) -> Self:
        if self.precision is None and self.max_blocks is not None:
            raise ValueError("max_blocks: means nothing without a precision; give one, or blocks alone")
        if self.precision is not None and self.blocks < stopping.LEAST_BLOCKS:
            raise ValueError(
                f"blocks: {self.blocks} are too few to stop at a precision: intervals would be too narrow too often "
                "(docs/explanation/methods.md, Stopping at a precision); "
                f"give blocks = {stopping.LEAST_BLOCKS}, or more"
            )
        if self.most_blocks < self.blocks:
            raise ValueError(f"max_blocks: {self.max_blocks} are fewer than blocks ({self.blocks}), the least number")
        return self

    @model_validator(mode="after")
    def _can_be_planned(self) -> Self:
        factors, options = self.factors, self.factors.options
        counts = {name: len(getattr(factors, name)) for name in Factors.model_fields}
        grid = math.prod(counts.values()) // counts["protocol"]
        grid *= sum(math.prod(map(_count, options.get(name, {}).values())) for name in factors.protocol)
        counts |= {f"{name}.{option}": _count(found) for name in options for option, found in options[name].items()}
        trials = max(grid, self.most_blocks * (self.runs_of(grid) + self.anchors))
        if trials > MOST_TRIALS:
            levels = ", ".join(f"{name} {count}" for name, count in counts.items() if count > 1)
            said = f"{trials} trials are more than {MOST_TRIALS}"
            raise ValueError(f"[factors]: {said}: give fewer blocks ({self.most_blocks}) or fewer levels ({levels})")
        return self


def load_sweep(path: Path) -> Sweep:
    """Read a sweep file. Raises :class:`BadInput`."""
    return parse_sweep(read_sweep(path), path)


def read_sweep(path: Path) -> str:
    """The text of a sweep file. Raises :class:`BadInput`."""
    return read_text(path, "sweeps/ holds the ones that come with the lab")


def parse_sweep(text: str, path: Path) -> Sweep:
    """The sweep written in ``text``; ``path`` is named in errors. Raises :class:`BadInput`."""
    try:
        content = tomllib.loads(text.removeprefix("\ufeff"))  # a run keeps the text of its sweep with it
    except (ValueError, RecursionError) as error:  # not every bad number or depth is a TOMLDecodeError
        raise BadInput(f"{path}: not valid TOML: {error}") from error
    return validate(Sweep, content, path)
