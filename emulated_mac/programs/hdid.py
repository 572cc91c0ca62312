"""hdid(8), the old name of ``hdiutil attach`` (man hdid)."""

from __future__ import annotations

from . import hdiutil


def main(argv: list[str]) -> int:
    """Attach."""
    return hdiutil.main(["attach", *argv])
