"""What a level of each factor is to pydantic, which reads it from a sweep file.

Factors themselves do without it: whoever looks at a run does not wait for pydantic to be loaded.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from lab.base.units import parse_size
from lab.design.factors import DEFAULT, Count, Direction, Factor, SizeOrDefault, Text, Whole


def _read_size(value: Any) -> int | str:
    return DEFAULT if value == DEFAULT else parse_size(value)


TcpSpace = Annotated[int | Literal["default"], BeforeValidator(_read_size)]


def level_type(factor: Factor) -> Any:
    """The type of one level."""
    level = factor.level
    if isinstance(level, Whole):
        return Annotated[int, Field(ge=level.least, le=level.most, strict=True)]
    if isinstance(level, Count):
        return Annotated[int, Field(ge=level.least, le=level.most, strict=True), AfterValidator(str)]
    if isinstance(level, Text):
        return Annotated[str, Field(pattern=f"^{level.pattern}$")]
    if level is SizeOrDefault:
        return TcpSpace
    if level is Direction:
        return Annotated[Literal["write", "read"], AfterValidator(_read_direction)]
    return level


def _read_direction(value: str) -> Direction:
    return Direction(value)  # pydantic takes no class for a validator whose signature Python 3.13 tells otherwise
