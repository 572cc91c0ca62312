"""A figure inside a page: the SVG of matplotlib with its looks as attributes, which give way to the page's style."""

import re
from xml.etree import ElementTree

from lab.report.page.html import escape

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
DROPPED = ("metadata", "style", "title")
FINER = re.compile(r"(\.\d\d)\d+")  # than a hundredth of a point: half of the bytes of a figure
SIGN_PX, LONGEST_TIP = 4.6, 118  # width of a character, and characters of a value beside its mark
ElementTree.register_namespace("", SVG[1:-1])


def inline(svg: bytes, name: str, title: str, about: str) -> str:
    """The drawing as an element of HTML with this title; ``about`` describes it in words."""
    root = ElementTree.fromstring(svg)  # noqa: S314  # the lab's own drawing
    _tidy(root)
    for shape in root.iterfind(".//defs/*"):
        shape.attrib.pop("stroke", None)  # the page's style does not reach it, and its users have the same
    _drop_unused_names(root, name)
    for mark in _marks_on_top(root):
        _show_value(mark, float(root.get("viewBox", "0 0 576 0").split()[2]))
    for place, (kind, text) in enumerate((("title", title), ("desc", about))):
        element = ElementTree.Element(kind, {"id": f"{name}-{kind}"})
        element.text = text
        root.insert(place, element)
    looks = {"class": "figure", "role": "group", "aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc"}
    root.attrib = {**looks, "viewBox": root.get("viewBox", "")}
    drawn = re.sub(r">\s+<", "><", ElementTree.tostring(root, encoding="unicode"))
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(title)}">{drawn}</div>'


def _tidy(element: ElementTree.Element) -> None:
    """Elements without a namespace, as HTML has them; looks as attributes; nothing that is not drawn."""
    element.tag = element.tag.removeprefix(SVG)
    declarations = (part.partition(":") for part in element.attrib.pop("style", "").split(";") if part.strip())
    looks = {name.strip(): value.strip() for name, _, value in declarations}
    looks.pop("font-family", None)
    element.attrib = {key.removeprefix(XLINK): value for key, value in element.attrib.items()} | looks
    for key in {"d", "x", "y", "transform"} & element.attrib.keys():
        element.set(key, FINER.sub(r"\1", " ".join(element.get(key, "").split())))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for child in list(element):
        if child.tag.removeprefix(SVG) in DROPPED and element.get("class") != "mark":
            element.remove(child)
        else:
            _tidy(child)


def _drop_unused_names(root: ElementTree.Element, name: str) -> None:
    """Keep the ids that others refer to, with the figure's name before them because a page has several figures."""
    references = [
        (element, key, value)
        for element in root.iter()
        for key in ("href", "clip-path")
        if "#" in (value := element.get(key, "")) and not value.startswith("data:")
    ]
    used = {anchor for *_, value in references for anchor in re.findall(r"#([\w.-]+)", value)}
    for element in root.iter():
        if (anchor := element.attrib.pop("id", "")) in used:
            element.set("id", f"{name}-{anchor}")
    for element, key, value in references:
        element.set(key, value.replace("#", f"#{name}-"))


def _marks_on_top(root: ElementTree.Element) -> list[ElementTree.Element]:
    """Move every mark behind all else, because the next panel would be drawn over the value beside it."""
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
    looks = {"class": "tip", "x": f"{left:.0f}", "y": f"{above:.0f}", "aria-hidden": "true"}
    ElementTree.SubElement(mark, "text", looks).text = tip
