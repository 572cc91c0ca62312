"""Files that are nearly right: real ones with some bytes changed, as hypothesis draws them, and shrinks them again."""

import re

from hypothesis import strategies as st

# what stands in place of a number, or of a word; or between two bytes
NUMBERS = [
    b"-1",
    b"0",
    b"nan",
    b"inf",
    b"1e308",
    b"1e999",
    b"9" * 19,
    b"9" * 5000,
    b"0x10",
    "٣".encode(),
    b"1_0",
    b"1.2.3",
]
WORDS = [
    b"", b"null", b"true", b"{}", b"[]", b'""', b'"', b"\\", b"'", b"\0", b"\n", b"\r\n", b"\t", b" ", b"=", b":", b",",
    b"%", b"${x}", b"%(x)s", b"../..", b"/", b"-", b"-oProxyCommand=id", b"$(id)", b"x" * 10_000, b"a." * 500, b"\xff",
    "\ud800".encode(errors="surrogatepass"), b'"\\ud800"', "\u202e\x1b[2J".encode(), b"\x85", "\u2028".encode(),
    b"[" * 3000, b'{"a":' * 3000, b"]" * 50,
]  # fmt: skip
NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
WORD = re.compile(rb"[^\s\"{}:,=()]+")


@st.composite
def mutated(draw: st.DrawFn, originals: list[bytes], most: int = 5) -> bytes:
    """One of these, changed up to ``most`` times."""
    content = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, most))):
        content = _change(draw, content)
    return content


def _change(draw: st.DrawFn, content: bytes) -> bytes:
    kind = draw(st.sampled_from(["number", "word", "cut", "insert", "lines", "byte", "end"]))
    if kind in ("number", "word"):
        places = list((NUMBER if kind == "number" else WORD).finditer(content))
        by = draw(st.sampled_from(NUMBERS + WORDS))
        if not places:
            return content + by
        place = places[draw(st.integers(0, len(places) - 1))]
        return content[: place.start()] + by + content[place.end() :]
    if kind == "lines":
        lines = content.splitlines(keepends=True) or [b""]
        source, target = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        return b"".join(
            [*lines[:target], lines[source] * draw(st.integers(1, 3)), *lines[target + draw(st.integers(0, 1)) :]]
        )
    at = draw(st.integers(0, len(content)))
    if kind == "end":
        return content[:at]
    if kind == "cut":
        return content[:at] + content[at + draw(st.integers(1, 40)) :]
    if kind == "byte":
        return content[:at] + draw(st.binary(min_size=1, max_size=1)) + content[at + 1 :]
    return content[:at] + draw(st.sampled_from(WORDS + NUMBERS)) + content[at:]
