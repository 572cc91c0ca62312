"""nfsstat(1): mounts as print_mountargs() of NFS-63 prints them, with the additions of later versions. Only -m is
emulated, because there are no counters. From 11 on it prints JSON too, with the same words.
"""

import getopt
import json
import sys
from collections.abc import Sequence

from .. import profiles
from ..kernel_client import call
from ..records import NfsFacts, NfsMount

# mount.h: bits of f_flags, with the words of nfsstat.c
BITS = {
    "read-only": (0x1, "ro"), "noexec": (0x4, "noexec"), "nosuid": (0x8, "nosuid"), "nodev": (0x10, "nodev"),
    "union": (0x20, "union"), "automounted": (0x400000, "automounted"), "noowners": (0x200000, "noowners"),
    "nobrowse": (0x100000, "nobrowse"), "defwrite": (0x2000000, "defwrite"),
}  # fmt: skip
ORDER = ("ro", "nodev", "noexec", "nosuid", "union", "automounted", "defwrite", "noowners", "nobrowse")
MULTILABEL = 0x4000000
# In the order of print_mountargs(): by option, its form among the requested ones
ASKED = ("vers", "tcp", "udp", "port", "mountport", "soft", "intr", "resvport", "nolocks", "locallocks", "noquota",
         "rsize", "wsize", "readahead", "dsize", "rdirplus", "timeo", "retrans", "acregmin", "acregmax", "acdirmin",
         "acdirmax", "deadtimeout", "nfc")  # fmt: skip
SYNONYMS = {"nolock": "nolocks", "nolockd": "nolocks", "nonlm": "nolocks"}
USAGE = "usage: nfsstat [-cseuv3m] [-f JSON] [-n user|net] [-w interval] [mountpath]\n"


def main(argv: list[str]) -> int:
    """The NFS mounts, or the one at a path."""
    number = profiles.current().number
    try:
        options, words = getopt.getopt(argv, "cemn:suvw:z3" + ("f:" if number >= (11,) else ""))
    except getopt.GetoptError as error:
        print(f"nfsstat: illegal option -- {error.opt}", file=sys.stderr)
        options = []
    chosen = dict(options)
    if "-m" not in chosen or len(words) > 1 or chosen.get("-f", "JSON") != "JSON":
        print(USAGE, end="", file=sys.stderr)
        return 1
    facts: dict[str, NfsFacts] = call("share_facts")
    path = words[0].rstrip("/") if words else None
    mounts: list[NfsMount] = [mount | facts[mount["target"]] for mount in call("mounts") if mount["type"] == "nfs"]
    mounts = [mount for mount in mounts if path in (None, mount["target"])]
    if "-f" in chosen:
        print(json.dumps({mount["target"]: _json(mount, number) for mount in mounts}, indent=2))
        return 0
    for mount in mounts:
        print(_text(mount, number))
    return 0


def _text(mount: NfsMount, number: tuple[int, ...]) -> str:
    location = f"     File system locations:\n       {mount['path']} @ {mount['host']} ({mount['address']})\n"
    original, current = (
        _original_parameters(mount["asked"]),
        _current_parameters(mount["asked"], mount["current"], number),
    )
    return (
        f"{mount['target']} from {mount['source']}\n"
        f"  -- Original mount options:\n     General mount flags: {_flags(mount['standard_shown'], 0, number)}\n"
        f"     NFS parameters: {','.join(original)}\n{location}"
        f"  -- Current mount parameters:\n     General mount flags: {_flags(mount['flags'], MULTILABEL, number)}\n"
        f"     NFS parameters: {','.join(current)}\n{location}"
        f"     Status flags: 0x0\n"
    )


def _json(mount: NfsMount, number: tuple[int, ...]) -> dict[str, object]:
    current = _current_parameters(mount["asked"], mount["current"], number)
    return {
        "Server": mount["source"],
        "Original mount options": {"NFS parameters": _original_parameters(mount["asked"])},
        "Current mount parameters": {"NFS parameters": current},
    }


def _flags(flags: Sequence[str], extra_bits: int, number: tuple[int, ...]) -> str:
    """The flags in hexadecimal and in words, separated by a blank before 11 (nfsstat.c)."""
    words = [word for word in ORDER if word in {BITS[flag][1] for flag in flags}]
    bits = sum(BITS[flag][0] for flag in flags) | extra_bits
    if not extra_bits:
        return f"0x{bits:x}" + (f" {','.join(words)}" if words else "")
    glue = "," if number >= (11,) and words else " "
    return f"0x{bits:x} {','.join(words)}{glue}multilabel".replace("  ", " ")


def _original_parameters(own: dict[str, str]) -> list[str]:
    options = {SYNONYMS.get(name, name): value for name, value in own.items()}
    return [f"{name}={options[name]}" if options[name] else name for name in ASKED if name in options]


def _current_parameters(own: dict[str, str], current: dict[str, int], number: tuple[int, ...]) -> list[str]:
    """All parameters; an option that is off shows with ``no`` before it."""
    options = {SYNONYMS.get(name, name): value for name, value in own.items()}
    modern = number >= (10, 7)

    def switch(name: str) -> str:
        return name if name in options else f"no{name}"

    def value(name: str, default: int) -> str:
        return f"{name}={options.get(name) or default}"

    locks = next((name for name in ("nolocks", "locallocks") if name in options), "locks")
    cached = {name: "0" if "noac" in options else options.get("actimeo", "") for name in ("min", "max")}
    times = [
        value(f"ac{kind}{end}", int(cached[end] or default))
        for kind in ("reg", "dir", *(("rootdir",) if modern else ()))
        for end, default in (("min", 5), ("max", 60))
    ]
    dead = [value("deadtimeout", 0)] if "deadtimeout" in options else []
    return [
        f"vers={options.get('vers', '3')}", "udp" if "udp" in options else "tcp", f"port={current['port']}",
        f"mountport={current['mountport']}", "nomntudp", "soft" if "soft" in options else "hard", switch("intr"),
        switch("resvport"), "nonegnamecache" if "nonegnamecache" in options else "negnamecache", "callumnt", locks,
        "noquota" if "noquota" in options else "quota", f"rsize={current['rsize']}", f"wsize={current['wsize']}",
        value("readahead", 16), f"dsize={current['dsize']}", switch("rdirplus"),
        "nodumbtimer" if modern else "nodumbtimr", value("timeo", 10), value("retrans", 10), "maxgroups=16", *times,
        *dead, "nomutejukebox", switch("nfc"), "sec=sys", *(["accesscache=3"] if number >= (11,) else []),
    ]  # fmt: skip
