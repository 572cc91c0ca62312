"""defaults(1): preferences in property lists: the user's by domain, the system's by path."""

from __future__ import annotations

import os
import plistlib
from pathlib import Path

from .. import bsd_getopt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Preferences = dict[str, object]

USAGE = """\
Command line interface to a user's defaults.
Syntax:

'defaults' [-currentHost | -host <hostname>] followed by one of the following:"""
ON = ("true", "TRUE", "yes", "YES", "1")


def main(argv: list[str]) -> int:
    """``read``, ``write`` or ``delete`` a key of a domain."""
    if len(argv) < 2 or argv[0] not in ("read", "write", "delete"):
        bsd_getopt.fail_with_usage(USAGE, 255)
    path = _preferences_file(argv[1])
    content: Preferences = plistlib.loads(path.read_bytes()) if path.exists() else {}
    verbs = {"read": _read, "write": _write, "delete": _delete}
    return verbs[argv[0]](path, content, argv[1], argv[2:])


def _preferences_file(domain: str) -> Path:
    name = domain.removesuffix(".plist")
    return Path(f"{name}.plist" if name.startswith("/") else f"{os.environ['HOME']}/Library/Preferences/{name}.plist")


def _read(path: Path, content: Preferences, domain: str, words: list[str]) -> int:
    if len(words) != 1:
        bsd_getopt.fail_as_not_emulated("defaults", "read without a key")
    if words[0] not in content:
        bsd_getopt.fail(f"The domain/default pair of ({domain}, {words[0]}) does not exist")
    value = content[words[0]]
    if isinstance(value, list):
        value = "(\n" + ",\n".join(f"    {item}" for item in value) + "\n)"
    print(int(value) if isinstance(value, bool) else value)
    return 0


def _write(path: Path, content: Preferences, domain: str, words: list[str]) -> int:
    if len(words) < 2:
        bsd_getopt.fail_with_usage(USAGE, 255)
    key, kind, values = words[0], words[1], words[2:]
    before = content.get(key)
    kinds: dict[str, Callable[[], object]] = {
        "-bool": lambda: values[0] in ON, "-int": lambda: int(values[0]), "-string": lambda: values[0],
        "-array": lambda: values, "-array-add": lambda: [*(before if isinstance(before, list) else []), *values],
    }  # fmt: skip
    content[key] = kinds[kind]() if kind in kinds else kind
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(plistlib.dumps(content))
    return 0


def _delete(path: Path, content: Preferences, domain: str, words: list[str]) -> int:
    if not path.exists() or (words and words[0] not in content):
        bsd_getopt.fail(f"Domain ({domain}) not found.\nDefaults have not been changed.")
    if words:
        del content[words[0]]
        path.write_bytes(plistlib.dumps(content))
    else:
        path.unlink()
    return 0
