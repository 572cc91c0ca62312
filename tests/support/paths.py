"""Paths of the tests and of captures."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
LINUX_CAPTURES = TESTS / "captures" / "linux"
MACOS_CAPTURES = TESTS / "captures" / "macos"
RUN_CAPTURES = TESTS / "captures" / "runs"


def capture(name: str) -> str:
    """What a command of a real Mac printed."""
    return (MACOS_CAPTURES / name).read_text(encoding="utf-8")
