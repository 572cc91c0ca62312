"""A figure inside a page: the SVG of matplotlib with its looks as attributes, so that the page's style decides.

A page allows no style but its own, by hash: attributes of presentation are none, and give way to that.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from lab.report.page.html import escape

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
DROPPED = ("metadata", "style", "title")
FINER = re.compile(r"(\.\d\d)\d+")  # than a hundredth of a point: half of the bytes of a figure
SIGN_PX, LONGEST_TIP = 4.6, 118  # of a value that is shown beside its mark
ElementTree.register_namespace("", SVG[1:-1])


def inline(svg: bytes, name: str, title: str, about: str) -> str:
    """The drawing as an element of HTML: named ``title``, and told in words by ``about``."""
    root = ElementTree.fromstring(svg)  # noqa: S314  # the lab's own drawing
    _tidy(root)
    for shape in (shape for shapes in root.iter("defs") for shape in shapes):
        shape.attrib.pop("stroke", None)  # the page's style does not reach it; whoever uses it has the same
    _drop_unused_names(root, name)
    for mark in _marks_on_top(root):
        _show_value(mark, float(root.get("viewBox", "0 0 576 0").split()[2]))
    first = ElementTree.Element("title", {"id": f"{name}-title"})
    second = ElementTree.Element("desc", {"id": f"{name}-desc"})
    first.text, second.text = title, about
    root[:0] = [first, second]
    looks = {"class": "figure", "role": "group", "aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc"}
    root.attrib = {**looks, "viewBox": root.get("viewBox", "")}
    drawn = re.sub(r">\s+<", "><", ElementTree.tostring(root, encoding="unicode"))
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(title)}">{drawn}</div>'


def _tidy(element: ElementTree.Element) -> None:
    """Elements without a namespace, as HTML has them; looks as attributes; nothing that is not drawn."""
    element.tag = element.tag.removeprefix(SVG)
    looks = dict(_declarations(element.attrib.pop("style", "")))
    looks.pop("font-family", None)
    plain = {key.removeprefix(XLINK): value for key, value in element.attrib.items()}
    element.attrib = {**plain, **looks}
    for key in {"d", "x", "y", "transform"} & element.attrib.keys():
        element.set(key, FINER.sub(r"\1", " ".join(element.get(key, "").split())))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for child in list(element):
        if child.tag.removeprefix(SVG) in DROPPED and element.get("class") != "mark":
            element.remove(child)
        else:
            _tidy(child)


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    for declaration in filter(None, map(str.strip, style.split(";"))):
        name, _, value = declaration.partition(":")
        yield name.strip(), value.strip()


def _drop_unused_names(root: ElementTree.Element, name: str) -> None:
    """Keep the ids that others refer to, with the figure's name before them: a page has several figures."""
    used = set(re.findall(r"#([\w.-]+)", " ".join(_references(root))))
    for element in root.iter():
        own = element.attrib.pop("id", "")
        if own in used:
            element.set("id", f"{name}-{own}")
        for key in ("href", "clip-path"):
            if "#" in element.get(key, "") and not element.get(key, "").startswith("data:"):
                element.set(key, element.get(key, "").replace("#", f"#{name}-"))


def _references(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        yield from (
            element.get(key, "") for key in ("href", "clip-path") if not element.get(key, "").startswith("data")
        )


def _marks_on_top(root: ElementTree.Element) -> list[ElementTree.Element]:
    """Every mark, in its order, moved behind all else: the next panel would be drawn over the value beside it."""
    places = [(parent, mark) for parent in root.iter() for mark in parent if mark.get("class") == "mark"]
    for parent, mark in places:
        parent.remove(mark)
        root.append(mark)
    return [mark for _, mark in places]


def _show_value(mark: ElementTree.Element, width: float) -> None:
    """Put the value of a mark beside it, which the page shows while the keyboard or the pointer is there."""
    title, circle = mark.find("title"), mark.find("circle")
    if title is None or circle is None:
        return
    text = title.text or ""
    tip = text if len(text) <= LONGEST_TIP else f"{text[:LONGEST_TIP]}…"
    at_x, at_y = float(circle.get("cx", 0)), float(circle.get("cy", 0))
    left = max(2.0, min(at_x + 4, width - SIGN_PX * len(tip)))
    above = at_y - 9 if at_y > 24 else at_y + 17
    shown = ElementTree.SubElement(
        mark, "text", {"class": "tip", "x": f"{left:.0f}", "y": f"{above:.0f}", "aria-hidden": "true"}
    )
    shown.text = tip
