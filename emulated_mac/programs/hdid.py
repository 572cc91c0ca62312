"""hdid(8), the old name of ``hdiutil attach`` (man hdid)."""

from . import hdiutil


def main(argv: list[str]) -> int:
    """Attach."""
    return hdiutil.main(["attach", *argv])
