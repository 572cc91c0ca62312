"""Writes docs/gallery: the report of the run that comes with the lab, and what docs/gallery.md shows of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from lab import __version__
from lab.cli.main import main as lab
from lab.results import examples

EXAMPLE = "example"
GALLERY = Path(__file__).parent / "gallery"


def shown() -> Iterator[str]:
    """Where the numbers come from, then every figure, as a page one folder up includes it."""
    example = examples.Example(EXAMPLE)
    yield f"{example.origin}."
    yield f"Measured on {example.text('started_at')[:10]} by lab {example.text('code_version')}."
    yield f"Report, post and figures: lab {__version__}.\n"
    posts = "".join(post.read_text(encoding="utf-8") for post in sorted(GALLERY.glob("post*.md")))
    titles = {name: title for title, name in re.findall(r"!\[([^]]+)\]\(figures/(\w+)\.", posts)}
    names = dict.fromkeys([*titles, *(figure.stem for figure in sorted(GALLERY.glob("figures/*.svg")))])
    for name in names:
        yield f"## {titles.get(name, name)}\n\n![{titles.get(name, name)}](gallery/figures/{name}.svg)\n"


def main() -> int:
    """Write all of it anew."""
    shutil.rmtree(GALLERY, ignore_errors=True)
    code = lab(["report", EXAMPLE, "--to", str(GALLERY)])
    if code == 0:
        (GALLERY / "shown.md").write_text("\n".join(shown()), encoding="utf-8")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
