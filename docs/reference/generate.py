"""Writes the pages of the reference that follow from the code: ``generate.py [--check]``.

With ``--check`` nothing is written: exit code 1, and the difference, where a page is not what the code says.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

HERE = Path(__file__).parent
STAMP = "Written by docs/reference/generate.py from the code. Change the code, then run `make docs-reference`."
# The first line of a page, by the ending of its name
COMMENTS = {".md": f"% {STAMP}\n\n", ".1": f'.\\" {STAMP}\n', ".json": "", ".csv": ""}


def main() -> int:
    """Write the pages, or compare them: those of the code beside this file, whatever is installed."""
    sys.path.insert(0, str(HERE.parents[1]))
    from reference_pages import PAGES

    check = sys.argv[1:] == ["--check"]
    stale: list[str] = []
    for name, parts in PAGES.items():
        file = HERE / name
        text = (COMMENTS[file.suffix] + "\n".join(parts())).rstrip("\n") + "\n"
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        if check and old != text:
            stale += difflib.unified_diff(old.splitlines(), text.splitlines(), f"{file}", "the code", lineterm="", n=0)
        elif not check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if stale:
        print("\n".join([*stale, "stale pages of the reference: run `make docs-reference`"]), file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
