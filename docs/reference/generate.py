"""Writes the pages of the reference that follow from the code, and are not in git: ``generate.py [FOLDER]``."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
STAMP = "Written by docs/reference/generate.py from the code. Change the code, then run `make docs-reference`."
# The first line of a page, by the ending of its name
COMMENTS = {".md": f"% {STAMP}\n\n", ".1": f'.\\" {STAMP}\n', ".json": "", ".csv": ""}


def main() -> None:
    """Write the pages from the code beside this file, whatever lab is installed, and remove those of an older one."""
    sys.path.insert(0, str(HERE.parents[1]))
    from reference_pages import PAGES

    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    for name, parts in PAGES.items():
        page = folder / name
        _write(page, (COMMENTS[page.suffix] + "\n".join(parts())).rstrip("\n") + "\n")
    stamped = (page for page in folder.glob("*.md") if page.read_text(encoding="utf-8").startswith(COMMENTS[".md"]))
    for page in {*stamped, *folder.glob("schema/[!.]*")} - {folder / name for name in PAGES}:
        page.unlink()


def _write(page: Path, text: str) -> None:
    """Put the whole page in place at once: test runs side by side write and read it."""
    page.parent.mkdir(exist_ok=True)
    unfinished = page.with_name(f".{page.name}-{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(page)


if __name__ == "__main__":
    main()
