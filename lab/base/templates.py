"""Texts with fields, such as ``only {moved} of {least} bytes``, and reading such a text again."""

import functools
import re
from string import Formatter


@functools.cache
def pattern_of(template: str) -> re.Pattern[str]:
    """What matches the texts that a format string gives, with a group for each field by its name."""
    parts = Formatter().parse(template)
    fields = (re.escape(text) + (f"(?P<{name}>.*)" if name else "") for text, name, _, _ in parts)
    return re.compile("".join(fields), re.DOTALL)
