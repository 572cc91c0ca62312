"""Paths of the tests and of captures, and what captures hold."""

import gzip
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
LINUX_CAPTURES = TESTS / "captures" / "linux"
MACOS_CAPTURES = TESTS / "captures" / "macos"
RUN_CAPTURES = TESTS / "captures" / "runs"
CAPTURED_RUNS = sorted(path.name for path in RUN_CAPTURES.iterdir())


def capture(name: str) -> str:
    """What a command of a real Mac printed."""
    return (MACOS_CAPTURES / name).read_text(encoding="utf-8")


def unpack_run(name: str, folder: Path) -> Path:
    """Unpack the captured run ``name`` into ``folder``, which is made if it is missing; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for packed in (RUN_CAPTURES / name / "run").iterdir():
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return folder
