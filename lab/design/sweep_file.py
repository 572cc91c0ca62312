"""A sweep file: its keys, and how it is read."""

from __future__ import annotations

import math
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model, field_validator, model_validator

from lab.base import shipped
from lab.base.did_you_mean import hint
from lab.base.units import LARGEST, parse_size
from lab.base.validation import Model, Seconds, Share, Size, read_text, read_toml, validate
from lab.design import factors as registry
from lab.design import stopping
from lab.design.factors import BY_NAME, CHOOSERS, DEFAULT, FACTORS, LOCAL, Direction, Factor, Level
from lab.design.manifest import read_manifest
from lab.design.store_shots import StoreTool
from lab.design.workload import Workload

RUN_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MOST_TRIALS = 100_000  # a week at best; many more would not fit into memory
MOST_BLOCKS = 10_000


class Levels(Model):
    """The levels that a sweep varies. Its cases are their product, less impossible combinations.

    Options of a mount (``smb.dialect``), a tool (``dd.bs``) or a store (``ext4.data``) are kept unread, by owner,
    because only the owner knows them.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[str, object]]

    def of(self, name: str) -> tuple[Level, ...]:
        """The levels of one of FACTORS."""
        levels: tuple[Level, ...] = getattr(self, name)
        return levels

    def names(self, name: str) -> tuple[str, ...]:
        """The levels of one of FACTORS, as text."""
        return tuple(map(str, self.of(name)))

    @property
    def options(self) -> dict[str, dict[str, object]]:
        """The options of each protocol, tool and store, by name, with the sweep's unread levels."""
        return self.__pydantic_extra__

    @field_validator("*")
    @classmethod
    def _levels_are_unique(cls, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        if len(set(levels)) != len(levels):
            raise ValueError("has a level twice")
        return levels


TcpSpace = Annotated[
    int | Literal["default"], BeforeValidator(lambda value: DEFAULT if value == DEFAULT else parse_size(value))
]


def _level_type(factor: Factor) -> object:
    level = factor.level
    if isinstance(level, registry.Whole):
        number = Field(ge=level.least, le=level.most, strict=True)
        return Annotated[int, number, AfterValidator(str)] if level.as_text else Annotated[int, number]
    if isinstance(level, registry.Text):
        return Annotated[str, Field(pattern=f"^{level.pattern}$")]
    if level is registry.SizeOrDefault:
        return TcpSpace
    if level is Direction:  # not the class itself as the validator: its signature differs in Python 3.13
        return Annotated[Literal["write", "read"], AfterValidator(lambda value: Direction(value))]
    return level


def _field(factor: Factor) -> tuple[object, object]:
    """A factor as a field of a model: a list of at least one level."""
    default = factor.default or ...
    return GenericAlias(tuple, (_level_type(factor), ...)), Field(default, min_length=1, description=factor.description)


if TYPE_CHECKING:
    Factors = Levels
else:
    Factors = create_model("Factors", __base__=Levels, **{factor.name: _field(factor) for factor in FACTORS})


def _count(levels: object) -> int:
    return len(levels) if isinstance(levels, list) else 1


class Sweep(Model):
    """A sweep file: what to vary, how often, in which seeded order, and when to stop."""

    name: Annotated[str, Field(pattern=f"^{RUN_NAME}$")]
    """The end of the run folder's name, and the title of its report."""
    description: str = ""  #: What the sweep is to find out, for people.
    blocks: int = Field(3, ge=1, le=1000, strict=True)
    """How often every case is measured: once a block, and each second block in the reverse of the order before."""
    seed: int = Field(1, ge=0, lt=LARGEST, strict=True)
    """Decides the order of the trials, and which cases a fraction takes."""
    max_blocks: int | None = Field(None, ge=1, le=MOST_BLOCKS, strict=True)
    """With ``precision``: the number of blocks that ends the run in any case. Default: 10 × ``blocks``."""
    precision: float | None = Field(None, gt=0, lt=1, strict=True)
    """Go on until each interval of ``effects`` has this relative half-width: 0.03 is ± 3 %."""
    effects: tuple[str, ...] | None = Field(None, min_length=1)
    """Factors whose effects are asked for, or two as ``"mtu:tcp_space"``; ``["speed"]``: no effect, but the speed of
    each case. Default: all that vary but the direction."""
    fraction: Share = 1.0  #: The share of the grid's cases to measure.
    anchors: int = Field(0, ge=0, le=100, strict=True)  #: How often each block repeats its first case, to expose drift.
    time_cap: Seconds | None = None
    """No new trial starts after so long. A run that it ends has exit code 1, and can be resumed."""
    ceiling_seconds: Annotated[Seconds, Field(le=600)] = 1.0
    """How long iperf3 measures the link each way, before and after the trials of each MTU and TCP buffer in a block."""
    store_tools: tuple[StoreTool, ...] = Field(("dd",), min_length=1)
    """The programs that measure the [server's store by itself](../how-to/measure-the-store.md) once a block: `dd`,
    `bonnie++`, `fio`. They run if files are on its disk or in a file system that the lab makes.
    """
    bonnie_size: Size | None = None
    """With `bonnie++` in `store_tools`: the size of its file. Default: twice the server's memory."""
    bonnie_fsync: bool = Field(False, strict=True)
    """With `bonnie++` in `store_tools`: it flushes what it wrote, and each small file that it makes (`-b`)."""
    bonnie_per_byte: bool = Field(True, strict=True)
    """With `bonnie++` in `store_tools`: whether it also writes and reads byte by byte, which takes most of its time."""
    slowest: Size = 2_000_000  #: A transfer of fewer bytes per second than this counts as stuck, and is ended.
    workload: Workload  #: What is moved: the table ``[workload]``.
    factors: Factors  #: What is varied: the table ``[factors]``.

    def sized(self, size_bytes: int) -> Sweep:
        """The sweep with this size of its payload."""
        return self.model_copy(update={"workload": self.workload.model_copy(update={"size": size_bytes})})

    @property
    def is_local(self) -> bool:
        """Whether it measures stores by themselves, without a share."""
        return LOCAL in self.factors.names("protocol")

    @property
    def most_blocks(self) -> int:
        """The most blocks of a run: ``blocks``, or with a precision ``max_blocks`` (10 × ``blocks``)."""
        return self.blocks if self.precision is None else self.max_blocks or 10 * self.blocks

    def runs_of(self, cases: int) -> int:
        """How many of these cases the fraction takes, rounded up."""
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
    def _store_tools_are_clear(self) -> Self:
        if len(set(self.store_tools)) != len(self.store_tools):
            raise ValueError("store_tools: has a tool twice")
        are_given = {"bonnie_size": self.bonnie_size is not None, "bonnie_fsync": self.bonnie_fsync}
        are_given["bonnie_per_byte"] = not self.bonnie_per_byte
        names = [name for name, is_given in are_given.items() if is_given]
        if names and "bonnie++" not in self.store_tools:
            raise ValueError(f'{names[0]}: means nothing without "bonnie++" in store_tools')
        return self

    @model_validator(mode="after")
    def _local_is_of_stores_alone(self) -> Self:
        if self.is_local and (problem := _problem_without_share(self)):
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _can_be_planned(self) -> Self:
        factors, options = self.factors, self.factors.options
        counts = {factor.name: len(factors.of(factor.name)) for factor in FACTORS}
        grid = math.prod(count for name, count in counts.items() if name not in CHOOSERS)
        for chooser in CHOOSERS:
            grid *= sum(math.prod(map(_count, options.get(name, {}).values())) for name in factors.names(chooser))
        counts |= {f"{name}.{option}": _count(levels) for name in options for option, levels in options[name].items()}
        trials = max(grid, self.most_blocks * (self.runs_of(grid) + self.anchors))
        if trials > MOST_TRIALS:
            varied = ", ".join(f"{name} {count}" for name, count in counts.items() if count > 1)
            raise ValueError(
                f"[factors]: {trials} trials are more than {MOST_TRIALS}: give fewer blocks ({self.most_blocks}) "
                f"or fewer levels ({varied})"
            )
        return self


def _problem_without_share(sweep: Sweep) -> str:
    """Which key means nothing for a sweep of stores by themselves, and what to do; empty for none."""
    others = sorted(sweep.factors.model_fields_set & {*BY_NAME} - {"protocol", "store"})
    if len(sweep.factors.names("protocol")) > 1:
        return f'[factors] protocol: "{LOCAL}" is no share: give it alone, or leave it out'
    if others:
        return f'[factors] {others[0]}: with protocol "{LOCAL}" leave it out: only stores are compared'
    if "dd" not in sweep.store_tools:
        return f'store_tools: protocol "{LOCAL}" takes "dd", whose speeds are its trials'
    if sweep.workload.kind != "file" or sweep.workload.size is None:
        return f'[workload]: protocol "{LOCAL}" takes kind = "file" and a size'
    return f'anchors: protocol "{LOCAL}" measures each store once a block: leave it out' if sweep.anchors else ""


def load_sweep(path: Path) -> Sweep:
    """Read a sweep file. Raises BadInput."""
    return parse_sweep(read_sweep(path), path)


def read_sweep(path: Path) -> str:
    """The text of a sweep file, or of a shipped sweep by its bare name. Raises BadInput."""
    sweeps = shipped.sweeps()
    known = f"the sweeps that come with the lab are {', '.join(sweeps)}{hint(path.stem, sweeps)}"
    return read_text(sweeps.get(str(path), path), known)


def make_sweep(content: dict[str, Any], path: Path) -> Sweep:
    """The sweep with these keys and tables; errors name ``path``. Raises BadInput."""
    return validate(Sweep, content, path)


def parse_sweep(text: str, path: Path, manifest: Path | None = None) -> Sweep:
    """The sweep in ``text``; errors name ``path``. Its tree is in ``manifest``, or its own file. Raises BadInput."""
    sweep = make_sweep(read_toml(text.removeprefix("\ufeff"), path, "a sweep"), path)
    if sweep.workload.manifest is None:
        return sweep
    recorded = read_manifest(manifest or path.parent / sweep.workload.manifest, links=manifest is None)
    return sweep.model_copy(update={"workload": sweep.workload.with_manifest(recorded)})
