"""The name that somebody meant who wrote one that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from lab.base.untrusted import one_line

LONGEST_NAME = 80  # characters: a longer one is no misspelling, and comparing takes time with the square of them


def nearest(name: str, names: Iterable[object]) -> str:
    """The one of ``names`` that is spelt most like ``name``, whatever the case; empty where none is near."""
    by_spelling = {text.casefold(): text for text in map(str, names) if len(text) <= LONGEST_NAME}
    likely = difflib.get_close_matches(name.casefold(), by_spelling, 1) if len(name) <= LONGEST_NAME else []
    return by_spelling[likely[0]] if likely else ""


def hint(name: str, names: Iterable[object]) -> str:
    """What a message about an unknown name ends with: the nearest one, as a question; empty where none is near."""
    match = nearest(name, names)
    return f"; did you mean {one_line(match)!r}?" if match else ""
