"""Lines of trials.jsonl, given and generated."""

import json
from typing import Any

from hypothesis import strategies as st

from support.synthetic_runs import trial

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def line(**changes: Any) -> str:
    return json.dumps(trial().to_json() | changes)
