"""sharing(8), and "Command-Line Administration" of Mac OS X Server for the flags of 10.6.

Three flags stand for AFP, FTP and SMB. What it says where it refuses is not known; that it does so with an exit code
other than 0 is.
"""

from __future__ import annotations

import errno
import getopt
import json
import os
import sys
from pathlib import Path
from typing import Any

from .. import profiles
from ..system import call

Record = dict[str, Any]
NAMES = {"-A": "afp_name", "-F": "ftp_name", "-S": "smb_name"}
TRIPLES = {"-s": "shared", "-g": "guest"}
USAGE = """\
usage: sharing -a <path> [options]
       sharing -e <record name> [options]
       sharing -r <record name>
       sharing -l{json}
"""


def main(argv: list[str]) -> int:
    """Add, edit, remove or list share points."""
    number = profiles.chosen().number
    letters = "a:e:r:ln:A:F:S:s:g:i:" + ("R:E:f:" if number >= (11,) else "c:d:o:t:" if number < (10, 7) else "R:")
    try:
        options, rest = getopt.getopt(argv, letters)
        return _do(dict(options), [name for name, _ in options], rest, number)
    except (getopt.GetoptError, ValueError):
        print(USAGE.format(json=" [-f json]" if number >= (11,) else ""), end="", file=sys.stderr)
        return 64
    except OSError as error:
        print(f"sharing: {_explained(error)}", file=sys.stderr)
        return 1


def _explained(error: OSError) -> str:
    if error.errno == errno.EPERM:
        return "you must be root to change share points"
    return str(error.strerror)


def _do(options: dict[str, str], given: list[str], rest: list[str], number: tuple[int, ...]) -> int:
    verbs = [name for name in given if name in ("-a", "-e", "-r", "-l")]
    if len(verbs) != 1 or rest:
        raise ValueError("one verb")
    verb = verbs[0]
    if verb == "-l":
        if options.get("-f", "json") != "json":
            raise ValueError("format")
        points = sorted(call("share_points"), key=lambda point: str(point["name"]))
        print(_json(points) if "-f" in options else _text(points, number), end="")
        return 0
    if os.getuid() != 0:
        raise OSError(errno.EPERM, "Operation not permitted")
    known = {point["name"]: point for point in call("share_points")}
    if verb == "-a":
        record = _new(options)
        if record["name"] in known:
            raise OSError(errno.EEXIST, f"a share point named {record['name']} exists already")
    elif options[verb] in known:
        record = known[options[verb]]
    else:
        raise OSError(errno.ENOENT, f"there is no share point named {options[verb]}")
    if verb == "-r":
        call("share_point_remove", name=record["name"])
        return 0
    call("share_point_write", record=record | _changes(options))
    return 0


def _new(options: dict[str, str]) -> Record:
    """By default all protocols are on and guests are off; the names are the folder's."""
    path = Path(options["-a"])
    if not path.is_absolute() or not path.is_dir():
        raise OSError(errno.ENOENT, f"{path} is not a folder")
    name = options.get("-n", path.name or "/")
    record: Record = {"name": name.lower() if "-n" not in options else name, "path": str(path)}
    for protocol in ("afp", "ftp", "smb"):
        record |= {f"{protocol}_name": name, f"{protocol}_shared": True, f"{protocol}_guest": False}
    return record | {"afp_inherit": False, "smb_inherit": False, "smb_read_only": False, "smb_sealed": False}


def _changes(options: dict[str, str]) -> Record:
    """What the options ask for. Raises ValueError for flags that are not of the right number of 0 and 1."""
    found: Record = {key: options[name] for name, key in NAMES.items() if name in options}
    for name, key in TRIPLES.items():
        if name in options:
            afp, ftp, smb = _bits(options[name], 3)
            found |= {f"afp_{key}": afp, f"ftp_{key}": ftp, f"smb_{key}": smb}
    if "-i" in options:
        found["afp_inherit"], found["smb_inherit"] = _bits(options["-i"], 2)
    for name, key in (("-R", "smb_read_only"), ("-E", "smb_sealed")):
        if name in options:
            (found[key],) = _bits(options[name], 1)
    return found


def _bits(text: str, count: int) -> list[bool]:
    if len(text) != count or not set(text) <= {"0", "1"}:
        raise ValueError(text)
    return [letter == "1" for letter in text]


def _json(points: list[Record]) -> str:
    """Seen on macOS 12 to 15: an object by record name."""
    found = {
        point["name"]: {
            "path": point["path"],
            "smb_guest_access": int(point["smb_guest"]),
            "smb_name": point["smb_name"],
            "smb_read_only": int(point["smb_read_only"]),
            "smb_sealed": int(point["smb_sealed"]),
            "smb_shared": int(point["smb_shared"]),
        }
        for point in points
    }
    return json.dumps(found, indent=2) + "\n"


def _text(points: list[Record], number: tuple[int, ...]) -> str:
    """Two indentations: ``path`` is indented by a tab in some versions, and the title by three."""
    title = "\t\t\tList of Share Points\n" if number >= (10, 9) else "List of Share Points\n"
    return title + "".join(_block(point, "" if number >= (10, 9) else "\t", number) for point in points)


def _block(point: Record, indent: str, number: tuple[int, ...]) -> str:
    lines = [f"name:\t\t{point['name']}", f"{indent}path:\t\t{point['path']}"]
    protocols = ["afp"] if number < (11,) else []
    protocols += ["ftp"] if number < (10, 9) else []
    for protocol in [*protocols, "smb"]:
        lines += [
            f"\t{protocol}:\t{{",
            f"\t\tname:\t{point[f'{protocol}_name']}",
            f"\t\tshared:\t{int(point[f'{protocol}_shared'])}",
            f"\t\tguest access:\t{int(point[f'{protocol}_guest'])}",
        ]
        if protocol == "afp":
            lines.append(f"\t\tinherit perms:\t{int(point['afp_inherit'])}")
        if protocol == "smb" and number >= (11,):
            lines.append(f"\t\tread-only:\t{int(point['smb_read_only'])}")
            lines.append(f"\t\tsealed:\t{int(point['smb_sealed'])}")
        lines.append("\t}")
    return "\n".join(lines) + "\n"
