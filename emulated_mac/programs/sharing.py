"""sharing(8); the flags of 10.6 are from "Command-Line Administration" of Mac OS X Server. Three flags stand for AFP,
FTP and SMB. Its error messages are invented because no source has them; that the exit code is not 0 is documented.
"""

import errno
import getopt
import json
import os
import sys
from pathlib import Path

from .. import profiles
from ..kernel_client import call
from ..records import SharePointRecord

Changes = dict[str, str | bool]  # of fields of a share point
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
    number = profiles.current().number
    letters = "a:e:r:ln:A:F:S:s:g:i:" + ("R:E:f:" if number >= (11,) else "c:d:o:t:" if number < (10, 7) else "R:")
    try:
        options, rest = getopt.getopt(argv, letters)
        return _run_verb(dict(options), [name for name, _ in options], rest, number)
    except (getopt.GetoptError, ValueError):
        print(USAGE.format(json=" [-f json]" if number >= (11,) else ""), end="", file=sys.stderr)
        return 64
    except OSError as error:
        print(f"sharing: {_explain(error)}", file=sys.stderr)
        return 1


def _explain(error: OSError) -> str:
    if error.errno == errno.EPERM:
        return "you must be root to change share points"
    return str(error.strerror)


def _run_verb(options: dict[str, str], names: list[str], rest: list[str], number: tuple[int, ...]) -> int:
    verbs = [name for name in names if name in ("-a", "-e", "-r", "-l")]
    if len(verbs) != 1 or rest:
        raise ValueError("one verb")
    verb = verbs[0]
    if verb == "-l":
        if options.get("-f", "json") != "json":
            raise ValueError("format")
        listed: list[SharePointRecord] = sorted(call("share_points"), key=lambda point: str(point["name"]))
        print(_json(listed) if "-f" in options else _text(listed, number), end="")
        return 0
    if os.getuid() != 0:
        raise OSError(errno.EPERM, "Operation not permitted")
    points: dict[str, Changes] = {point["name"]: point for point in call("share_points")}
    if verb == "-a":
        record = _new(options)
        if record["name"] in points:
            raise OSError(errno.EEXIST, f"a share point named {record['name']} exists already")
    elif options[verb] in points:
        record = points[options[verb]]
    else:
        raise OSError(errno.ENOENT, f"there is no share point named {options[verb]}")
    if verb == "-r":
        call("share_point_remove", name=record["name"])
        return 0
    call("share_point_write", record=record | _changes(options))
    return 0


def _new(options: dict[str, str]) -> Changes:
    """A new share point: all protocols on, guests off, named after its folder."""
    path = Path(options["-a"])
    if not path.is_absolute() or not path.is_dir():
        raise OSError(errno.ENOENT, f"{path} is not a folder")
    name = options.get("-n", path.name or "/")
    record: Changes = {"name": name.lower() if "-n" not in options else name, "path": str(path)}
    for protocol in ("afp", "ftp", "smb"):
        record |= {f"{protocol}_name": name, f"{protocol}_shared": True, f"{protocol}_guest": False}
    return record | {"afp_inherit": False, "smb_inherit": False, "smb_read_only": False, "smb_sealed": False}


def _changes(options: dict[str, str]) -> Changes:
    """The fields that the options set. Raises ValueError if flags are not the right number of 0 and 1."""
    changes: Changes = {key: options[name] for name, key in NAMES.items() if name in options}
    for name, key in TRIPLES.items():
        if name in options:
            afp, ftp, smb = _bits(options[name], 3)
            changes |= {f"afp_{key}": afp, f"ftp_{key}": ftp, f"smb_{key}": smb}
    if "-i" in options:
        changes["afp_inherit"], changes["smb_inherit"] = _bits(options["-i"], 2)
    for name, key in (("-R", "smb_read_only"), ("-E", "smb_sealed")):
        if name in options:
            (changes[key],) = _bits(options[name], 1)
    return changes


def _bits(text: str, count: int) -> list[bool]:
    if len(text) != count or not set(text) <= {"0", "1"}:
        raise ValueError(text)
    return [letter == "1" for letter in text]


def _json(points: list[SharePointRecord]) -> str:
    """Seen on macOS 12 to 15: an object by record name."""
    content = {
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
    return json.dumps(content, indent=2) + "\n"


def _text(points: list[SharePointRecord], number: tuple[int, ...]) -> str:
    """The text form. Some versions indent ``path`` by one tab, and the title by three."""
    title = "\t\t\tList of Share Points\n" if number >= (10, 9) else "List of Share Points\n"
    return title + "".join(_block(point, "" if number >= (10, 9) else "\t", number) for point in points)


def _block(point: SharePointRecord, indent: str, number: tuple[int, ...]) -> str:
    lines = [f"name:\t\t{point['name']}", f"{indent}path:\t\t{point['path']}"]
    fields = {
        "afp": (point["afp_name"], point["afp_shared"], point["afp_guest"]),
        "ftp": (point["ftp_name"], point["ftp_shared"], point["ftp_guest"]),
        "smb": (point["smb_name"], point["smb_shared"], point["smb_guest"]),
    }
    protocols = ["afp"] if number < (11,) else []
    protocols += ["ftp"] if number < (10, 9) else []
    for protocol in [*protocols, "smb"]:
        name, shared, guest = fields[protocol]
        lines += [f"\t{protocol}:\t{{", f"\t\tname:\t{name}"]
        lines += [f"\t\tshared:\t{int(shared)}", f"\t\tguest access:\t{int(guest)}"]
        if protocol == "afp":
            lines.append(f"\t\tinherit perms:\t{int(point['afp_inherit'])}")
        if protocol == "smb" and number >= (11,):
            lines.append(f"\t\tread-only:\t{int(point['smb_read_only'])}")
            lines.append(f"\t\tsealed:\t{int(point['smb_sealed'])}")
        lines.append("\t}")
    return "\n".join(lines) + "\n"
