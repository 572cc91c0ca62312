"""The colours of figures on a page: those of the drawing, and what stands for them on light and on dark paper.

Every colour that marks anything has a contrast of at least 3 to its paper and to a shaded row (WCAG 2.2, 1.4.11).
"""

from __future__ import annotations

LIGHT, DARK = "#ffffff", "#15181c"
SHADES = ("#f4f4f4", "#20252b")
MARKS = {
    "#0072b2": ("#0072b2", "#4fa8e0"), "#d55e00": ("#c04f00", "#ff8d42"), "#009e73": ("#00805c", "#2fc394"),
    "#cc79a7": ("#b05a8c", "#e39cc6"), "#56b4e9": ("#2a86ba", "#7cc7f0"), "#e69f00": ("#a86f00", "#f0b43c"),
    "#000000": ("#000000", "#ffffff"), "#222222": ("#222222", "#e8e8e8"), "#8a8a8a": ("#767676", "#9a9a9a"),
    "#555555": ("#555555", "#b5b5b5"),
}  # fmt: skip
GROUNDS = {"#dddddd": ("#dddddd", "#3a3f45"), "#f4f4f4": SHADES, "#ffffff": (LIGHT, DARK)}


def rules() -> str:
    """The rules of CSS that give a drawing inside a page its colours."""
    light, dark = ("".join(_rule(colour, of[scheme]) for colour, of in _ALL.items()) for scheme in (0, 1))
    return f"{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"


_ALL = {**MARKS, **GROUNDS}


def _rule(colour: str, shown: str) -> str:
    return "".join(f'.figure [{part}="{colour}"] {{ {part}: {shown} }}\n' for part in ("fill", "stroke"))
