"""Writes docs/gallery: a run that comes with the lab, two of them compared, and what docs/gallery.md shows of it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from lab import __version__
from lab.cli.main import main as lab
from lab.results import examples

EXAMPLE, OTHER = "example", "example-delay"
GALLERY = Path(__file__).parent / "gallery"
COMPARED = GALLERY / "compared"
IMAGE = re.compile(r"!\[(.+)\]\(figures/([\w-]+)\.png\)")


def shown() -> Iterator[str]:
    """Where the numbers come from, then every figure, as a page one folder up includes it."""
    example = examples.Example(EXAMPLE)
    yield f"{example.origin}."
    yield f"Measured on {example.text('started_at')[:10]} by lab {example.text('code_version')}."
    yield f"Report, post and figures: lab {__version__}.\n"
    yield from _figures(GALLERY / "post-appendix.md", "gallery", "##")
    yield f"## Two runs compared\n\n`lab compare {EXAMPLE} {OTHER}`: the same sweep with four times the delay.\n"
    yield from _figures(COMPARED / "compare.md", "gallery/compared", "###")


def _figures(page: Path, folder: str, level: str) -> Iterator[str]:
    """Every figure of a page, under the heading that it has there, with what it says to who does not see it."""
    heading = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        heading = line.lstrip("# ") if line.startswith("#") else heading
        if figure := IMAGE.fullmatch(line):
            yield f"{level} {heading}\n\n![{figure[1]}]({folder}/figures/{figure[2]}.svg)\n"


def main() -> int:
    """Write all of it anew."""
    shutil.rmtree(GALLERY, ignore_errors=True)
    code = lab(["report", EXAMPLE, "--to", str(GALLERY)])
    code = code or lab(["compare", EXAMPLE, OTHER, "--to", str(COMPARED)])
    if code == 0:
        (GALLERY / "shown.md").write_text("\n".join(shown()), encoding="utf-8")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
