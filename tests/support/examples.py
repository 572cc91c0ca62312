"""What generated tests share: JSON of any kind, and how many examples a test gets, where each is dear or few do."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
"""What a program may print as JSON, NaN and infinity included."""


def at_most(count: int, **more: Any) -> settings:
    """So many examples, or as few as the profile says: what reads untrusted input names its number by itself."""
    return settings(max_examples=min(count, settings().max_examples), **more)
