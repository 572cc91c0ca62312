"""dscl(1): -read and -list of users, groups and share points of the local node."""

from __future__ import annotations

import grp
import pwd
import sys
from typing import Any

from ..system import call

NOT_FOUND = "<dscl_cmd> DS Error: -14136 (eDSRecordNotFound)"
Record = dict[str, str]


def main(argv: list[str]) -> int:
    """``dscl . -read PATH [KEY …]`` and ``dscl . -list PATH``."""
    if len(argv) < 3 or argv[0] not in (".", "localhost", "/Local/Default"):
        print(
            "dscl: this emulated Mac knows `dscl . -read PATH [KEY ...]` and `dscl . -list PATH` alone", file=sys.stderr
        )
        return 64
    verb, path, keys = argv[1].lstrip("-"), argv[2].strip("/"), argv[3:]
    kind, _, name = path.partition("/")
    records = _records(kind)
    if verb == "list":
        print("\n".join(records))
        return 0
    if verb != "read" or name not in records:
        print(NOT_FOUND, file=sys.stderr)
        return 56
    for key, value in records[name].items():
        if not keys or key in keys:
            print(f"{key}: {value}")
    for key in keys:
        if key not in records[name]:
            print(f"No such key: {key}")
    return 0


def _records(kind: str) -> dict[str, Record]:
    if kind == "Users":
        return {one.pw_name: _user(one) for one in pwd.getpwall()}
    if kind == "Groups":
        return {one.gr_name: _group(one) for one in grp.getgrall()}
    if kind == "SharePoints":
        return {point["name"]: _point(point) for point in call("share_points")}
    return {}


def _user(one: pwd.struct_passwd) -> Record:
    return {
        "NFSHomeDirectory": one.pw_dir, "PrimaryGroupID": str(one.pw_gid), "RealName": one.pw_gecos,
        "RecordName": one.pw_name, "UniqueID": str(one.pw_uid), "UserShell": one.pw_shell,
    }  # fmt: skip


def _group(one: grp.struct_group) -> Record:
    members = {"GroupMembership": " ".join(one.gr_mem)} if one.gr_mem else {}
    return {**members, "PrimaryGroupID": str(one.gr_gid), "RecordName": one.gr_name}


def _point(point: dict[str, Any]) -> Record:
    """Keys as sharing(8) of a Mac writes them into the record."""
    native = {"smb_name": "smb_name", "smb_shared": "smb_shared", "afp_name": "afp_name", "afp_shared": "afp_shared"}
    found = {
        f"dsAttrTypeNative:{key}": str(point[name]).replace("True", "1").replace("False", "0")
        for key, name in native.items()
    }
    return found | {"dsAttrTypeNative:directory_path": point["path"], "RecordName": point["name"]}
