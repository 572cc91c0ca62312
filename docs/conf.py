"""How Sphinx builds these pages: `make docs`. Nothing is fetched, and every warning is an error."""

from __future__ import annotations

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
exclude_patterns = ["_build"]
