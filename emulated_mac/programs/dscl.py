"""dscl(1): -read and -list of users, groups and share points of the local node."""

import grp
import pwd
import sys

from ..kernel_client import call
from ..records import SharePointRecord

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
        return {entry.pw_name: _user(entry) for entry in pwd.getpwall()}
    if kind == "Groups":
        return {entry.gr_name: _group(entry) for entry in grp.getgrall()}
    if kind == "SharePoints":
        return {point["name"]: _point(point) for point in call("share_points")}
    return {}


def _user(entry: pwd.struct_passwd) -> Record:
    return {
        "NFSHomeDirectory": entry.pw_dir, "PrimaryGroupID": str(entry.pw_gid), "RealName": entry.pw_gecos,
        "RecordName": entry.pw_name, "UniqueID": str(entry.pw_uid), "UserShell": entry.pw_shell,
    }  # fmt: skip


def _group(entry: grp.struct_group) -> Record:
    members = {"GroupMembership": " ".join(entry.gr_mem)} if entry.gr_mem else {}
    return {**members, "PrimaryGroupID": str(entry.gr_gid), "RecordName": entry.gr_name}


def _point(point: SharePointRecord) -> Record:
    """The keys that a Mac's sharing(8) writes into the record."""
    native = {
        "smb_name": point["smb_name"], "smb_shared": str(int(point["smb_shared"])),
        "afp_name": point["afp_name"], "afp_shared": str(int(point["afp_shared"])), "directory_path": point["path"],
    }  # fmt: skip
    return {f"dsAttrTypeNative:{key}": value for key, value in native.items()} | {"RecordName": point["name"]}
