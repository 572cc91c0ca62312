"""Records of a lab that wrote commands into its journals, where records have operations now.

Nothing of such a command is ever run. A record's name and the words of its commands give the parameters, and the
operation is made anew from these. The commands must have the words, the order and the rights that the lab gave them;
only the text of a script is passed over, for it differs from version to version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lab.platforms.files import Folder
from lab.platforms.linux.ram_disk import BlockRamDisk, Ext4, Tmpfs
from lab.platforms.linux.settings import LinuxMtu, LinuxTcpBuffer
from lab.platforms.macos.ram_disk import RamImage, RamVolume
from lab.platforms.macos.settings import MacMtu
from lab.platforms.macos.sysctl import MacSysctl
from lab.protocols.mounts.gvfs import GvfsFuse, GvfsMount
from lab.protocols.mounts.linux import LinuxShareMount
from lab.protocols.mounts.macos import MacShareMount
from lab.protocols.nfs.knfsd import NfsThreads
from lab.protocols.nfs.macos import MacExport, MacNfsd
from lab.protocols.servers.macos_launchd import MacService
from lab.protocols.servers.macos_sharing import MacSharePoint
from lab.protocols.smb.ksmbd import Ksmbd
from lab.settings.background import Process
from lab.settings.host_journal import TakenHostJournal
from lab.settings.journal import Record
from lab.settings.operation import Operation, check_keys
from lab.settings.parameters import OWN_FOLDER

KEYS = {"number", "host", "name", "old", "new", "read", "undo", "run", "boot", "volatile", "holds", "event"}
COMMAND_KEYS = {"argv", "root", "deadline_s"}
HOST_JOURNAL = "/var/tmp/file-share-lab"  # noqa: S108 - where earlier versions had it; nothing is made there
RUN = "[0-9a-f]{8}"
TEXT = "{*}"  # stands for the text of a script
ANY = ".{1,4096}"
# What parameters may be that share a word with others, so that a word is matched in one way only
NARROW = {
    "mount_point": "[^ ]{1,1024}",
    "uid": "[0-9]{1,10}",
    "gid": "[0-9]{1,10}",
    "network": "[0-9.]{7,15}",
    "mask": "[0-9.]{7,15}",
}


@dataclass(frozen=True)
class Shape:
    """The words of a command, with ``{name}`` where a parameter is, and whether root runs it."""

    words: tuple[str, ...]
    root: bool = False


def _script(*words: str, root: bool = False, by: tuple[str, ...] = ()) -> Shape:
    return Shape((*by, "/bin/sh", "-c", TEXT, "sh", *words), root)


def _marked(mark: str, *words: str, root: bool = False) -> Shape:
    """A script whose text tells it from that of another operation, which has the same words."""
    return Shape(("/bin/sh", "-c", f"{{*{mark}}}", "sh", *words), root)


def _root(*words: str) -> Shape:
    return Shape(words, root=True)


@dataclass(frozen=True)
class Rule:
    """How an operation was written: name, command that reads, commands that undo. ``make`` gets the parameters."""

    name: str
    read: Shape
    undo: tuple[Shape, ...]
    make: Callable[[Mapping[str, str]], Operation]


PRIVATE = ("unshare", "--mount", "--propagation", "private", "--")
GVFS = (
    "env", "LC_ALL=C.UTF-8", "XDG_RUNTIME_DIR={directory}/run", "DBUS_SESSION_BUS_ADDRESS=unix:path={bus}",
    "GVFS_MOUNTABLE_DIR={directory}/mountable", "GIO_USE_VOLUME_MONITOR=unix", "GVFS_REMOTE_VOLUME_MONITOR_IGNORE=1",
    "GVFS_DISABLE_FUSE=1",
)  # fmt: skip
FUSE = "{directory}/gvfsd-fuse.process"
EXPORT = "{path} -fspath={mount_point} -mapall={uid}:{gid} -network {network} -mask {mask}"
PLIST = "/System/Library/LaunchDaemons/{service}.plist"


def _export(words: Mapping[str, str]) -> Operation:
    numbers = {name: int(words[name]) for name in ("uid", "gid")}
    texts = {name: words[name] for name in ("path", "mount_point", "network", "mask", "condition")}
    return MacExport(**texts, **numbers)  # type: ignore[arg-type]  # which checks them


def _processes(root: bool) -> Rule:
    shape = _script("{directory}/{process}.process", root=root)
    return Rule("process {process}", shape, (shape,), lambda words: Process(words["directory"], words["process"], root))


RULES = (
    Rule(
        "the lab's ledger",
        _script(HOST_JOURNAL, "{run}", root=True),
        (_script(HOST_JOURNAL, "{run}", root=True),),
        lambda words: TakenHostJournal("", words["run"]),
    ),
    Rule("folder {path}", _script("{path}"), (_script("{path}", root=True),), lambda words: Folder(words["path"])),
    _processes(root=False),
    _processes(root=True),
    Rule(
        "MTU of {interface}",
        Shape(("cat", "/sys/class/net/{interface}/mtu")),
        (_root("ip", "link", "set", "dev", "{interface}", "mtu", "{old}"),),
        lambda words: LinuxMtu(words["interface"]),
    ),
    Rule(
        "MTU of {interface}",
        _script("{interface}"),
        (_root("ifconfig", "{interface}", "mtu", "{old}"), _script("{interface}")),
        lambda words: MacMtu(words["interface"]),
    ),
    Rule(
        "net.ipv4.{buffer}",
        Shape(("cat", "/proc/sys/net/ipv4/{buffer}")),
        (_script("/proc/sys/net/ipv4/{buffer}", "{old}", root=True),),
        lambda words: LinuxTcpBuffer(f"net.ipv4.{words['buffer']}"),  # type: ignore[arg-type]
    ),
    Rule(
        "{name}",
        _script("{name}"),
        (_root("sysctl", "-w", "{name}={old}"),),
        lambda words: MacSysctl(words["name"]),  # type: ignore[arg-type]
    ),
    Rule(
        "RAM disk {path}",
        _marked("/proc/self/mounts", "{entry}"),
        (_marked("umount -l", "{path}", root=True),),
        lambda words: Tmpfs(words["path"]),
    ),
    Rule(
        "RAM disk {path}",
        _marked("/proc/self/mounts", "{entry}"),
        (_marked("sleep 1; done", "{path}", root=True),),
        lambda words: Ext4(words["path"]),
    ),
    Rule(
        "RAM disk {path}",
        _marked("$(mount)", "{path}"),
        (_script("{path}", root=True),),
        lambda words: RamVolume(words["path"]),
    ),
    Rule(
        "module brd",
        _script(),
        (_script("rd_nr=1 rd_size={size_kib}", root=True),),
        lambda words: BlockRamDisk(int(words["size_kib"])),
    ),
    Rule(
        "RAM image ram://{sectors}",
        Shape(("perl", "-e", TEXT, "state", "{sectors}", "{place}")),
        (Shape(("perl", "-e", TEXT, "detach", "{sectors}", "{place}")),),
        lambda words: RamImage(int(words["sectors"]), words["place"]),
    ),
    Rule(
        "mount {path}",
        _script("{entry}"),
        (_script("{entry}", "{path}", root=True),),
        lambda words: LinuxShareMount(words["path"]),
    ),
    Rule(
        "mount {path}",
        _script("{path}"),
        (_script("{path}", root=True), _script("{path}", root=True)),
        lambda words: MacShareMount(words["path"]),
    ),
    Rule(
        "mount {uri}",
        _script("{uri}", by=GVFS),
        (_script("{uri}", by=GVFS),),
        lambda words: GvfsMount(words["directory"], words["uri"]),
    ),
    Rule(
        "FUSE mount of GVfs",
        _script("{entry}", "/bin/sh", "-c", TEXT, "sh", FUSE),
        (_script("{entry}", "{directory}/run/gvfs", root=True), _script(FUSE)),
        lambda words: GvfsFuse(words["directory"]),
    ),
    Rule(  # of the first labs
        "FUSE mount of GVfs",
        _script(FUSE),
        (_script(FUSE), _script("{entry}", "{directory}/run/gvfs", root=True)),
        lambda words: GvfsFuse(words["directory"]),
    ),
    Rule(
        "threads of the kernel's NFS server",
        _script(by=PRIVATE, root=True),
        (_script("{old}", by=PRIVATE, root=True),),
        lambda _: NfsThreads(),
    ),
    Rule("kernel module ksmbd", _script(), (_script(root=True),), lambda _: Ksmbd()),
    Rule(
        "export {path}",
        _script("/etc/exports", EXPORT, root=True),
        (
            _root("perl", "-e", TEXT, "--", "remove", "/etc/exports", EXPORT, "{condition}"),
            _script("/etc/exports", root=True),
            _script("stopped", "/etc/exports", root=True),
        ),
        _export,
    ),
    Rule(
        "service nfsd",
        _script(root=True),
        (_root("nfsd", "stop"), _script("stopped", root=True)),
        lambda _: MacNfsd(),
    ),
    Rule(
        "service {service}",
        _script("{service}", root=True),
        (_root("launchctl", "unload", PLIST),),
        lambda words: MacService(words["service"]),  # type: ignore[arg-type]
    ),
    Rule(
        "share point {record}",
        _script("{record}", root=True),
        (_root("sharing", "-r", "{record}"),),
        lambda words: MacSharePoint(words["record"]),
    ),
)


def convert_old(content: Mapping[str, Any]) -> Record:
    """The record that an old line comes to. Raises ValueError, or LabFailure, for what no lab wrote."""
    check_keys(content, KEYS)
    texts = {key: content[key] for key in ("host", "name", "old", "new", "run", "boot")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a text of it is none")
    if not re.fullmatch(RUN, texts["run"]):
        raise ValueError(f"run {texts['run']!r:.60} is no token")
    operation = _find_operation(content, texts)
    if (content["volatile"], content["holds"]) != (operation.volatile, operation.holds):
        raise ValueError("volatile and holds are not those of this operation")
    for match in re.finditer(OWN_FOLDER, " ".join(map(str, asdict(operation).values()))):
        if match[1] != texts["run"]:
            raise ValueError(f"{match[0]} is the folder of another run than {texts['run']}")
    old, new = texts["old"], texts["new"]
    return Record(content["number"], texts["host"], operation, old, new, texts["run"], texts["boot"])


def _find_operation(content: Mapping[str, Any], texts: Mapping[str, str]) -> Operation:
    undo = content["undo"]
    if not isinstance(undo, list):
        raise ValueError("undo is no list")
    for rule in RULES:
        words = {"old": texts["old"], "run": texts["run"]}
        pairs = [(rule.read, content["read"]), *zip(rule.undo, undo, strict=False)]
        if (
            _bind(rule.name, texts["name"], words)
            and len(undo) == len(rule.undo)
            and all(_fits(shape, command, words) for shape, command in pairs)
        ):
            return rule.make(words)
    raise ValueError(f"{texts['name']!r:.100} is no change that an earlier lab made by such commands")


def _fits(shape: Shape, command: object, words: dict[str, str]) -> bool:
    """Whether a command of the file has this shape; takes parameters into ``words``."""
    if not isinstance(command, dict) or command.keys() != COMMAND_KEYS or command["root"] is not shape.root:
        return False
    argv = command["argv"]
    if not isinstance(argv, list) or len(argv) != len(shape.words):
        return False
    return all(_bind(word, text, words) for word, text in zip(shape.words, argv, strict=True))


def _bind(template: str, text: object, words: dict[str, str]) -> bool:
    """Whether a text is what a template says, with parameters that agree with ``words``; new ones are added to it."""
    if not isinstance(text, str):
        return False
    if template.startswith("{*"):
        return template[2:-1] in text
    pattern = ""
    for number, part in enumerate(re.split(r"{(\w+)}", template)):
        if number % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += re.escape(words[part]) if part in words else f"(?P<{part}>{NARROW.get(part, ANY)})"
    match = re.fullmatch(pattern, text)
    words |= match.groupdict() if match else {}
    return bool(match)
