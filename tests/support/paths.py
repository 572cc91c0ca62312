"""Where things lie."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
LINUX_CAPTURES = TESTS / "captures" / "linux"
MACOS_CAPTURES = TESTS / "captures" / "macos"
RUN_CAPTURES = TESTS / "captures" / "runs"
