"""What is mounted on a host: its table of mounts, and parsers of what systems report about mounts and their options.

The table is read because touching a mount whose server is dead would hang. Paths in it have no links.
"""

import re
from collections.abc import Mapping

from lab.base.errors import LabFailure
from lab.base.untrusted import count, word
from lab.hosts import Host
from lab.hosts.command import Command, script

_ESCAPES = str.maketrans({"\\": r"\134", " ": r"\040", "\t": r"\011", "\n": r"\012"})
FIND = 'grep -F " $1 " /proc/self/mounts'


def real_path(host: Host, folder: str) -> str:
    """A folder on a host without links: on a Mac ``/tmp/x`` is ``/private/tmp/x``. Raises CommandError."""
    return host.shell('cd "$1" && pwd -P', folder).stdout.rstrip("\n")


def in_table(path: str) -> str:
    """A path as Linux's table of mounts shows it."""
    return path.translate(_ESCAPES)


def from_table(text: str) -> str:
    """A field of Linux's table of mounts without octal escapes."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), text)


def is_mounted(path: str) -> Command:
    """A command that prints ``mounted`` if something is mounted at exactly this path, else ``absent``."""
    return script(f"if {FIND} >/dev/null; then echo mounted; else echo absent; fi", in_table(path))


def is_mounted_on_mac(path: str) -> Command:
    """The same on a Mac. ``path`` must have no links, like the table."""
    table = 'table=$(mount) || exit; case $table in *" on $1 ("*) echo mounted ;; *) echo absent ;; esac'
    return script(table, path)


MOUNT_OPTION = re.compile(r"([a-z_]{1,40})(=([A-Za-z0-9.]{1,40}))?")
CURRENT = "-- Current mount parameters:"


def split_mount_options(text: str) -> dict[str, str]:
    """The options of a mount by name, with their values or empty texts; options with odd characters are left out."""
    return {match[1]: match[3] or "" for option in text.split(",") if (match := MOUNT_OPTION.fullmatch(option))}


# --- Linux


def parse_mount_options(text: str, versions_of: str) -> dict[str, str | int]:
    """``rsize``, ``wsize`` (bytes) and ``dialect``, as far as the options of a mount have them."""
    options = dict(option.split("=", 1) for option in text.split(",") if "=" in option)
    limits: dict[str, str | int] = {
        name: count(options[name]) for name in ("rsize", "wsize") if re.fullmatch("[0-9]{1,18}", options.get(name, ""))
    }
    if re.fullmatch(r"[0-9.]{1,8}", options.get("vers", "")):
        limits["dialect"] = versions_of + options["vers"]
    return limits


def parse_signed(text: str, path: str) -> str:
    """``true`` or ``false`` from the kernel's DebugData; empty if it lacks the share or says both."""
    dialects = [re.search(r" Dialect 0x[0-9a-f]+(.*)", session) for session, _ in cifs_sessions(text, path)]
    # the kernel may name compression before it, and POSIX extensions after it
    answers = {"true" if " signed" in dialect[1] else "false" for dialect in dialects if dialect}
    return answers.pop() if len(answers) == 1 else ""


def parse_encrypted(text: str, path: str) -> str:
    """As :func:`parse_signed`, for encryption."""
    # older kernels write Encrypted
    answers = {"true" if re.search(r"\b[Ee]ncrypted\b", line) else "false" for _, line in cifs_sessions(text, path)}
    return answers.pop() if len(answers) == 1 else ""


# What the kernel says of a share up to an empty line (cifs_debug_tcon). IPC$ stands behind a word of its own
TREE = re.compile(r"^[ \t]*\d+\) (\\\\.+) Mounts: .*\n(.*)\n((?:.*\S.*\n)*)", re.MULTILINE)
# The path of a mount that goes by DFS to another server: old kernels name it for the connection, newer for the share
ORIGIN = re.compile(r"^[ \t]*DFS origin full ?path: *(.*?)[ \t]*$", re.MULTILINE)


def cifs_sessions(text: str, path: str) -> list[tuple[str, str]]:
    r"""The kernel's DebugData about each connection of ``\\server\share\folder``, and the line on the share's state."""
    path = path.rstrip("\\").casefold()  # as the kernel compares them
    share = "\\".join(path.split("\\")[:4])
    found = []
    for session in re.split(r"^\d+\) ConnectionId: ", text, flags=re.MULTILINE)[1:]:
        head = session.partition("Sessions:")[0]
        for name, line, rest in TREE.findall(session):
            if name.casefold() == share or path in map(str.casefold, ORIGIN.findall(f"{head}\n{rest}")):
                found.append((session, line))
    return found


# --- macOS


def parse_mount_lines(text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Source, mount point, file system and flags (without ``mounted by``) of each line of ``mount``."""
    lines = re.findall(r"^(\S.*?) on (/.*) \(([^()]*)\)$", text, re.MULTILINE)
    rows = []
    for source, point, words in lines:
        kind, *flags = words.split(", ")
        rows.append((source, point, kind, tuple(flag for flag in flags if not flag.startswith("mounted by "))))
    return rows


def parse_mounts(text: str) -> dict[str, tuple[str, str]]:
    """File system and comma-separated flags by mount point, from the output of ``mount``."""
    return {point: (kind, ",".join(flags)) for _, point, kind, flags in parse_mount_lines(text)}


def parse_statshares(text: str) -> dict[str, str]:
    """Dialect, signing and encryption in ``smbutil statshares -m``. Raises LabFailure.

    Every SMB 3 session has a signing algorithm. Whether it signs is another line, which old versions lack.
    """
    rows = dict(re.findall(r"^ +([A-Z_]+) +(\S+) *$", text, re.MULTILINE))
    try:
        return {name: word(value, r"[ -~]{1,60}") for name, value in _negotiated(rows).items()}
    except ValueError as error:
        raise LabFailure(f"smbutil statshares: {error}", host="client") from error


def _negotiated(rows: Mapping[str, str]) -> dict[str, str]:
    negotiated = {}
    if "SMB_VERSION" in rows:
        version = word(rows["SMB_VERSION"], "SMB_[0-9.]{1,8}").removeprefix("SMB_")
        negotiated["dialect"] = "SMB " + {"3.02": "3.0.2", "2.002": "2.0.2"}.get(version, version)
    if rows.get("SIGNING_ON") == "TRUE":
        negotiated["signing"] = rows.get("SMB_CURR_SIGN_ALGORITHM", "on")
    elif "SESSION_RECONNECT_COUNT" in rows:
        negotiated["signing"] = "off"
    elif rows.get("SIGNING_REQUIRED") == "TRUE":
        negotiated["signing"] = "on"
    if "SMB_CURR_ENCRYPT_ALGORITHM" in rows:
        negotiated["encryption"] = rows["SMB_CURR_ENCRYPT_ALGORITHM"].replace("OFF", "off")
    return negotiated


def parse_multichannel(text: str) -> dict[str, str]:
    """Whether the session may use several connections, ``on`` or ``off``, if the text says so."""
    match = re.search(r"Multichannel ON: (yes|no)\b", text)
    return {"multichannel": {"yes": "on", "no": "off"}[match[1]]} if match else {}


def parse_nfsstat(text: str) -> dict[str, str]:
    """The parameters in effect, with their values or empty texts, from ``nfsstat -m PATH``."""
    has_parts = "-- Original mount options:" in text or CURRENT in text
    current = text.partition(CURRENT)[2] if has_parts else text
    parameters = re.search(r"^\s*NFS parameters: (\S+)", current, re.MULTILINE)
    return split_mount_options(parameters[1]) if parameters else {}


def read_nfs_version(parameters: Mapping[str, str]) -> str:
    """The NFS version in the parameters of nfsstat, with 4 as 4.0; empty if missing."""
    version = parameters.get("vers", "")
    return {"4": "4.0"}.get(version, version)


def read_parameters(parameters: Mapping[str, str]) -> Mapping[str, str | int]:
    """``dialect``, ``rsize`` and ``wsize`` (bytes) from the parameters of nfsstat. Raises LabFailure."""
    version = read_nfs_version(parameters)
    try:
        sizes: dict[str, str | int] = {
            name: count(parameters[name]) for name in ("rsize", "wsize") if name in parameters
        }
        dialect = {"dialect": "NFSv" + word(version, r"[0-9.]{1,8}")} if version else {}
    except ValueError as error:
        raise LabFailure(f"nfsstat -m: {error}", host="client") from error
    return {**sizes, **dialect}
