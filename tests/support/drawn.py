"""What is drawn in a figure: its marks and its words."""

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure


def png(figure: Figure) -> bytes:
    """Small, and drawn once: ``savefig`` draws a figure twice."""
    drawing = io.BytesIO()
    figure.set_dpi(40)
    FigureCanvasAgg(figure).print_png(drawing)  # type: ignore[no-untyped-call]
    return drawing.getvalue()


def marks(axes: Axes) -> np.ndarray[Any, Any]:
    """The places of all scattered marks of a panel."""
    offsets = [np.asarray(some.get_offsets()) for some in axes.collections if isinstance(some, PathCollection)]
    return np.vstack([places for places in offsets if len(places)])


def row_names(axes: Axes) -> list[str]:
    """The names of rows, from the top down: no other text stands on the baseline beside its place."""
    return [text.get_text() for text in axes.texts if text.get_verticalalignment() == "center_baseline"]


def footer(figure: Figure) -> Any:
    return figure._supxlabel  # type: ignore[attr-defined]  # matplotlib has no public way to the text


def words_of_marks(svg: Path) -> list[str]:
    """The words of each mark of a drawing; its first title is that of the figure."""
    titles = ElementTree.fromstring(svg.read_text()).iter("{http://www.w3.org/2000/svg}title")
    return [title.text or "" for title in titles][1:]
