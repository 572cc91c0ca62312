"""docs/reference/programs.md: each file of output that the tests read is named there, and each that is named exists."""

import re
from fnmatch import fnmatch

from support.paths import LINUX_CAPTURES, MACOS_CAPTURES, ROOT

TEXT = (ROOT / "docs" / "reference" / "programs.md").read_text(encoding="utf-8")
PATTERNS = set(re.findall(r"`([A-Za-z0-9_.*-]+\.(?:txt|json|plist|log))`", TEXT))


def test_every_capture_is_of_a_version_that_is_named_and_is_there() -> None:
    names = {path.name for folder in (LINUX_CAPTURES, MACOS_CAPTURES) for path in folder.iterdir()}
    assert [pattern for pattern in PATTERNS if not any(fnmatch(name, pattern) for name in names)] == []
    assert [name for name in names if not any(fnmatch(name, pattern) for pattern in PATTERNS)] == []


def test_every_row_says_what_it_was_tried_with() -> None:
    rows = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows if len(row) != 3 or not all(row)] == []
