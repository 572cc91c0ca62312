"""How Sphinx builds these pages: `make docs`. Nothing is fetched, and every warning is an error."""

import shutil
from pathlib import Path

from sphinx.application import Sphinx

project = "File-sharing throughput lab"
author = "the contributors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = project
html_show_copyright = False
html_copy_source = False
nitpicky = True
# links to headings of other pages are checked down to this level
myst_heading_anchors = 4
smartquotes_action = "qe"  # quotes and ellipses: -- begins an option
exclude_patterns = ["_build", "gallery/shown.md", "gallery/compared/compare.md"]


def setup(app: Sphinx) -> None:
    """Have the report of the gallery, and the comparison, served as they are."""

    def copy_report(app: Sphinx, error: Exception | None) -> None:
        if error is None and app.builder.format == "html":
            for page in ("report.html", "compared/compare.html"):
                served = Path(app.outdir) / "gallery" / page
                served.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(app.srcdir) / "gallery" / page, served)

    app.connect("build-finished", copy_report)
