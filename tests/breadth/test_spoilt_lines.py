"""Lines that are spoilt in any way are judged alike, quickly and with care."""

from hypothesis import given, settings
from hypothesis import strategies as st
from support.trial_lines import TOKENS, fields, judged_alike, written

from lab.results.trial import FIELDS

SCRAPS = [
    b"", b"{", b"}", b"[", b"]", b'"', b",", b":", b" ", b"\n", b"\r\n", b"\\", b"\0", b"\xff", b"\xc3\xa9", b"0", b"-",
    b".", b"e", b"}\n{", b"} {", b"\n\n", b", ", b"null", b"\xef\xbb\xbf", b'"x": 1, ',
]  # fmt: skip


@st.composite
def spoilt_lines(draw: st.DrawFn) -> bytes:
    """Lines with fields changed, left out, doubled or in another order, and with scraps at any place."""
    lines = [fields(number) for number in range(draw(st.integers(1, 3)))]
    for line in lines:
        line |= draw(st.dictionaries(st.sampled_from([*FIELDS, "surprise"]), st.sampled_from(TOKENS), max_size=2))
        for name in draw(st.sets(st.sampled_from([*FIELDS]), max_size=2)) if draw(st.integers(0, 9)) > 7 else ():
            value = line.pop(name)
            if draw(st.booleans()):
                line[name] = value
    content = written(lines)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(content) - 1))
        content = content[:place] + draw(st.sampled_from(SCRAPS)) + content[place + draw(st.integers(0, 3)) :]
    return content if content.endswith(b"\n") else content + b"\n"


@settings(max_examples=600)
@given(spoilt_lines())
def test_spoilt_lines_are_judged_alike(lines: bytes) -> None:
    judged_alike(lines)
    judged_alike(lines, schema=1)
