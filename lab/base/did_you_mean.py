"""Suggests a known name for a misspelt one."""

import difflib
from collections.abc import Iterable

from lab.base.untrusted import one_line

LONGEST_NAME = 80  # characters: comparing takes time with their square


def nearest(name: str, names: Iterable[object]) -> str:
    """The most similar of ``names``, ignoring case; empty if none is similar."""
    by_spelling = {text.casefold(): text for text in map(str, names) if len(text) <= LONGEST_NAME}
    likely = difflib.get_close_matches(name.casefold(), by_spelling, 1) if len(name) <= LONGEST_NAME else []
    return by_spelling[likely[0]] if likely else ""


def hint(name: str, names: Iterable[object]) -> str:
    """The end of a message about an unknown name: a question with the most similar one; empty if there is none."""
    match = nearest(name, names)
    return f"; did you mean {one_line(match)!r}?" if match else ""
