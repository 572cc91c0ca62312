"""Sizes, times and shares as the types of keys that pydantic reads."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from lab.base.units import parse_seconds, parse_share, parse_size

Size = Annotated[int, BeforeValidator(parse_size)]
Share = Annotated[float, BeforeValidator(parse_share)]
Seconds = Annotated[float, BeforeValidator(parse_seconds)]
