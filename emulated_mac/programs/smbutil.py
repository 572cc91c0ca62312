"""smbutil(1): statshares as stat_shares.c of SMBClient-493 prints it, view as view.c does."""

import errno
import getopt
import json
import os
import socket
import sys
from collections.abc import Callable

from .. import mac_errors, nsmb_conf, profiles, smb_negotiate, smb_url
from ..kernel_client import call
from ..password_prompt import ask
from ..records import SmbFacts, SmbMount
from ..smb_negotiate import GMAC

EX_USAGE, EX_NOHOST, EX_NOPERM = 64, 68, 77
CONNECT_DEADLINE_S = 15.0
RULE = "-" * 98
CAPABILITIES = {
    1: "DFS_SUPPORTED", 2: "FILE_LEASING_SUPPORTED", 4: "MULTI_CREDIT_SUPPORTED", 8: "MULTI_CHANNEL_SUPPORTED",
    16: "PERSISTENT_HANDLES_SUPPORTED", 32: "DIR_LEASING_SUPPORTED", 64: "ENCRYPTION_SUPPORTED",
}  # fmt: skip
USAGE = """\
usage: smbutil [-hv] subcommand [args]
where subcommands are:
 help          display help on specified subcommand
 lookup        resolve NetBIOS name to IP address
 status        resolve IP address or DNS name to NetBIOS names
 view          list resources on specified host
"""
STATSHARES_USAGE = """\
usage : smbutil statshares [-m <mount_path> | -a] [-f <format>]
            [
             description :
             -a : attributes of all mounted shares
             -m <mount_path> : attributes of share mounted at mount_path
             -f <format> : print info in the provided format. Supported formats: JSON
             ]
"""
Pairs = list[tuple[str, str | int | list[str]]]


class _Usage(Exception):
    """The usage to print; a subcommand then exits with 1."""


def main(argv: list[str]) -> int:
    """One subcommand."""
    number = profiles.current().number
    subcommands: dict[str, Callable[[list[str], tuple[int, ...]], int]] = {"view": _view}
    if number >= (10, 9):
        subcommands["statshares"] = _statshares
    if number >= (11, 3):
        subcommands["multichannel"] = _multichannel
    if not argv or argv[0] not in subcommands:
        print(USAGE, end="", file=sys.stderr)
        return EX_USAGE
    try:
        return subcommands[argv[0]](argv[1:], number)
    except _Usage as usage:
        print(usage, end="", file=sys.stderr)
        return 1


def _select_mounts(argv: list[str], number: tuple[int, ...], usage: str) -> tuple[list[SmbMount], bool, int]:
    """The mounts of -a or -m, whether to print JSON, and the errno to exit with."""
    try:
        options, rest = getopt.getopt(argv, "am:f:" if number >= (11,) else "am:")
    except getopt.GetoptError as error:
        raise _Usage(usage) from error
    chosen = dict(options)
    if rest or ("-a" in chosen) == ("-m" in chosen) or chosen.get("-f", "json").lower() != "json":
        raise _Usage(usage)
    facts: dict[str, SmbFacts] = call("share_facts")
    mounts: list[SmbMount] = [
        mount | facts.get(mount["target"], {}) for mount in call("mounts") if mount["type"] == "smbfs"
    ]
    if "-m" in chosen:
        mounts = [mount for mount in mounts if mount["target"] == os.path.realpath(chosen["-m"])]
        return mounts, "-f" in chosen, 0 if mounts else errno.EINVAL
    return mounts, "-f" in chosen, 0


def _statshares(argv: list[str], number: tuple[int, ...]) -> int:
    mounts, as_json, error_number = _select_mounts(argv, number, STATSHARES_USAGE)
    if not as_json:
        rule = "=" * 98
        print(f"\n{rule}\n{'SHARE':30}{'ATTRIBUTE TYPE':30}VALUE\n{rule}")
        for position, mount in enumerate(mounts):
            if position:
                print(f"\n{RULE}")
            print(f"{mount['share']:30}")
            for key, value in attributes(mount, number):
                for item in value if isinstance(value, list) else [value]:
                    print(f"{'':30}{key:30}{item}")
        print(f"\n{RULE}")
    else:
        print(json.dumps([_json(mount, number) for mount in mounts], indent=2))
    if error_number:
        print("smbutil: statshares: Invalid argument", file=sys.stderr)
        return mac_errors.number(error_number)
    return 0


def attributes(mount: SmbMount, number: tuple[int, ...]) -> Pairs:
    """The keys that interpret_and_display() prints for a share, in its order; a list's key is printed for each item."""
    bits = mount["capabilities"]
    pairs: Pairs = [("SERVER_NAME", mount["server"]), ("USER_ID", mount["user_id"])]
    if number >= (11,):
        pairs.append(("SMB_NEGOTIATE", [f"SMBV_NEG_SMB{version}_ENABLED" for version in (1, 2, 3)]))
    else:
        pairs.append(("SMB_NEGOTIATE", "AUTO_NEGOTIATE"))
    version = mount["dialect"]
    pairs.append(("SMB_VERSION", "SMB_3.02" if version == "SMB_3.0.2" and number < (11,) else version))
    if number >= (12,):
        ciphers = ["AES_128_CCM", "AES_128_GCM", "AES_256_CCM", "AES_256_GCM"]
        pairs += [
            ("SMB_ENCRYPT_ALGORITHMS", [f"{name}_ENABLED" for name in ciphers]),
            ("SMB_CURR_ENCRYPT_ALGORITHM", "OFF"),
            ("SMB_SIGN_ALGORITHMS", ["AES_128_CMAC_ENABLED", "AES_128_GMAC_ENABLED"]),
            ("SMB_CURR_SIGN_ALGORITHM", "AES_128_GMAC" if mount["signing"] == GMAC else "AES_128_CMAC"),
        ]
    pairs += [("SMB_SHARE_TYPE", "DISK"), ("SIGNING_SUPPORTED", "TRUE")]
    pairs += [("SIGNING_REQUIRED", "TRUE")] if mount["required"] else []
    pairs += [("EXTENDED_SECURITY_SUPPORTED", "TRUE"), ("LARGE_FILE_SUPPORTED", "TRUE")]
    pairs += [("CLIENT_REQUIRES_SIGNING", "TRUE")] if mount.get("client_requires") else []
    pairs += [(name, "TRUE") for bit, name in CAPABILITIES.items() if bits & bit]
    pairs += [("DATA_CACHING_OFF", "TRUE")] if "nodatacache" in mount["options"] else []
    pairs += [("META_DATA_CACHING_OFF", "TRUE")] if "nomdatacache" in mount["options"] else []
    pairs += [("SIGNING_ON", "TRUE")] if mount["signed"] else []
    if number >= (11,):
        pairs += [("SESSION_RECONNECT_TIME", "0:0"), ("SESSION_RECONNECT_COUNT", 0)]
    return pairs


def _json(mount: SmbMount, number: tuple[int, ...]) -> dict[str, object]:
    """display_json(): words of the text become booleans, OFF becomes null, algorithms are spelt with hyphens."""
    content: dict[str, object] = {"share_name": mount["share"]}
    content |= dict.fromkeys(
        ["SIGNING_REQUIRED", "CLIENT_REQUIRES_SIGNING", "SIGNING_ON", *CAPABILITIES.values()], False
    )
    for key, value in attributes(mount, number):
        if key.startswith("SMB_CURR_"):
            content[key] = None if value == "OFF" else str(value).replace("_", "-")
        else:
            name = "SMB_SIGNING_ALGORITHMS" if key == "SMB_SIGN_ALGORITHMS" else key
            content[name] = True if value == "TRUE" else value
    return content


def _multichannel(argv: list[str], number: tuple[int, ...]) -> int:
    """As multichannel.c of SMBClient-494 prints it. One channel: a link of a local lab is one interface at each end."""
    mounts, _, refused = _select_mounts(
        argv, number, "usage : smbutil multichannel [-m <mount_path> | -a] [options] [-f <format>]\n"
    )
    for mount in mounts:
        is_on = "yes" if mount.get("multichannel") else "no"
        print(f"Session: {mount['target']}\nInfo: Multichannel ON: {is_on}, Reconnect Count: 0")
        print(f"{'':7}id{'':9}client IF{'':13}server IF   state{'':21}server ip{'':17}port   speed\n{'=' * 120}")
        if mount.get("multichannel"):
            client = f" {'en0':6} ({'Ethernet':8}) {'   4        ':12} "
            row = f"{'M':3}{1:6} {client:27} {'   2        ':12}  [{'session active':21}]   {mount['server']:24}"
            print(f"{row}  {445:3}    1.0 Gb")
    return refused


def _view(argv: list[str], number: tuple[int, ...]) -> int:
    """List a server's shares. Columns as in print_header() of view.c: share, type and comment."""
    letters = "ANGgaf:" if number >= (11,) else "ANGga"
    try:
        options, rest = getopt.getopt(argv, letters)
        url = smb_url.parse(rest[0]) if len(rest) == 1 else None
    except (getopt.GetoptError, ValueError):
        url = None
    if url is None:
        usage = "usage: smbutil view [connection options] //[domain;][user[:password]@]server\n"
        print(usage, end="", file=sys.stderr)
        return EX_USAGE
    silent = ("-N", "") in options
    password = (
        url.password if url.password is not None else ("" if silent else ask(f"Password for {url.server}: ") or "")
    )
    preferences = nsmb_conf.Preferences(url.server)
    conf = nsmb_conf.samba_conf(nsmb_conf.dialects(number, preferences.versions(number)), signed=False)
    try:
        socket.create_connection((url.server, smb_negotiate.PORT), CONNECT_DEADLINE_S).close()
        shares = call("smb_shares", uri=url.uri(), password=password, smb_conf=conf)
    except OSError as error:
        code = mac_errors.of(error)
        if code == errno.EKEYREJECTED:
            print(f"smbutil: server rejected the authentication: {mac_errors.text(code)}", file=sys.stderr)
            return EX_NOPERM
        print(f"smbutil: server connection failed: {mac_errors.text(code)}", file=sys.stderr)
        return EX_NOHOST
    print(f"{'Share':48}{'Type':8}Comments\n{'-' * 31}")
    for share in shares:
        print(f"{share:48}{'Disk':8}")
    print(f"\n{len(shares)} shares listed")
    return 0
