"""Text that a spreadsheet takes for text."""

from __future__ import annotations

import re

from lab.base.untrusted import printable

# What a spreadsheet may take for the beginning of a formula: of a cell, or after what ends one where cells are parted
# by semicolons, as in many countries, or by tabs. Full-width signs are taken too.
_FORMULA = r"(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])"
_FORMULA_FIRST, _FORMULA_LATER = re.compile(_FORMULA), re.compile(rf"([;\t\n]){_FORMULA}")


def no_formula(value: str) -> str:
    """The text with a quote before whatever could be taken for a formula."""
    later = _FORMULA_LATER.sub(r"\1'", printable(value))
    return f"'{later}" if _FORMULA_FIRST.match(later) else later
