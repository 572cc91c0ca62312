"""A figure as the bytes of a file: the same figure always gives the same bytes."""

import io

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

MARKS_DPI = 150  # for pixels inside an SVG; with more, a page of very many marks passes 3 MB
QUICK = 3  # of 9: files are a tenth larger than with the usual 6, in two thirds of the time


def png_of(figure: Figure) -> bytes:
    """The figure as PNG."""
    picture = io.BytesIO()
    FigureCanvasAgg(figure).print_png(picture, pil_kwargs={"compress_level": QUICK})  # type: ignore[no-untyped-call]  # savefig draws twice
    return picture.getvalue()


def svg_of(figure: Figure, title: str) -> bytes:
    """The figure as SVG with this title, its text as text: it is read aloud, found and copied."""
    drawing, dpi = io.BytesIO(), figure.dpi
    figure.set_dpi(MARKS_DPI)
    with matplotlib.rc_context({"svg.hashsalt": title, "svg.fonttype": "none"}):
        FigureCanvasSVG(figure).print_svg(drawing, metadata={"Date": None, "Title": title})  # type: ignore[no-untyped-call]
    figure.set_dpi(dpi)
    return drawing.getvalue()
