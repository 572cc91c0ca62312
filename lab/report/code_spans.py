"""Words between backticks: commands that a person types, which the lab's own sentences mark so."""

from __future__ import annotations

import re

CODE = re.compile(r"(?<!`)`([^`\s](?:[^`\n]*[^`\s])?)`(?!`)")


def parts(text: str) -> list[tuple[str, bool]]:
    """The text in parts: each with whether it is code, and then without its backticks."""
    return [(part, place % 2 == 1) for place, part in enumerate(CODE.split(text)) if part]
