"""The probes: each is an object with one attribute, so that nothing else can be lost with it."""

from collections.abc import Iterable
from dataclasses import dataclass

CONTENT, FINDER, XATTRS = "content", "resource fork and FinderInfo", "extended attributes"
ACCESS, FLAGS = "owner and access", "flags"
LINUX, MACOS = "linux", "macos"
BOTH = (LINUX, MACOS)
TIMES, LINKS, NAMES = "times", "links and special files", "names"
# No probe has a time of these years, so such a time is the time of the copy
OWN_TIME = (1_577_836_800, 2_145_916_800)  # 2020 up to 2038
IN_2001, IN_1938, IN_2040, IN_2107 = "1000000000", "-1000000000", "2208988800", "4323456789"
# Not before now, or reading it for a first copy would change it for a second one (relatime)
IN_2100 = "4102444800"
FOREIGN_ID = "54321"  # of an account that no host has
# Entries of POSIX lists: whose, and their rights as a number
ACL_USER = f"u::6,u:{FOREIGN_ID}:4,g::4,m::4,o::4"
ACL_GROUP = f"u::6,g::4,g:{FOREIGN_ID}:6,m::6,o::4"
ACL_DEFAULT = f"u::7,u:{FOREIGN_ID}:5,g::5,m::5,o::5"
# VFS_CAP_REVISION_2 with cap_net_bind_service, effective and permitted: linux/capability.h
CAPABILITY = ("security.capability", "0x0100000200040000000000000000000000000000")
# Entries of a Mac's list, for accounts that every Mac has
MAC_ACL_USER, MAC_ACL_GROUP = "user:daemon allow read,write", "group:admin deny execute"
MAC_ACL_INHERITED = "user:daemon allow list,search,file_inherit,directory_inherit"
# A resource fork without resources: its header, and its map, which begins with the same (Inside Macintosh, volume I)
FORK_HEADER = "0000010000000100000000000000001e"
RESOURCE_FORK = f"0x{FORK_HEADER.ljust(512, '0')}{FORK_HEADER.ljust(60, '0')}"
QUARANTINE = "0081;3b9aca00;lab;"  # flags; when, as seconds in hexadecimal; by which program
# What all systems have alike, so that one can judge a copy of another
ALIKE = ("type", "content", "holes", "owner", "mode", "time", "target", "hard link")


@dataclass(frozen=True)
class Probe:
    """One attribute of one object.

    ``kind`` is the object: ``file``, ``folder``, ``link``, ``fifo``, ``device`` or ``hard link``. The script sets and
    reads ``attribute``, ``key`` and ``value``. A probe of names has ``names`` of files instead. ``by_store``:
    the server's store decides, if it can be seen. ``on`` are the platforms with such an attribute.
    """

    name: str
    group: str
    about: str
    kind: str = "file"
    attribute: str = ""
    key: str = ""
    value: str = ""
    names: tuple[str, ...] = ()
    by_store: bool = False
    on: tuple[str, ...] = BOTH

    @property
    def is_alike(self) -> bool:
        """Whether every platform can tell what became of it, wherever it was laid."""
        return self.on == BOTH and (bool(self.names) or self.attribute in ALIKE)


def _of_names(name: str, about: str, *names: str) -> Probe:
    return Probe(name, NAMES, about, names=names)


def _mode(name: str, about: str, mode: str, kind: str = "file") -> Probe:
    return Probe(name, ACCESS, about, kind, "mode", value=mode)


def _xattr(
    name: str, about: str, size: str, kind: str = "file", key: str = "user.probe", on: tuple[str, ...] = BOTH
) -> Probe:
    return Probe(name, XATTRS, f"extended attribute {about}", kind, "xattr", key, size, on=on)


def _finder(name: str, about: str, key: str, value: str) -> Probe:
    return Probe(name, FINDER, about, "file", "finder", key, value, on=(MACOS,))


def _acl(name: str, about: str, key: str, value: str, kind: str = "file") -> Probe:
    """``key`` is the kind of a POSIX list of Linux, and empty for the list of a Mac."""
    return Probe(name, ACCESS, about, kind, "acl", key, value, on=(LINUX,) if key else (MACOS,))


def _time(name: str, about: str, value: str, kind: str = "file", key: str = "mtime") -> Probe:
    return Probe(name, TIMES, about, kind, "time", key, value)


PROBES = (
    Probe("plain-file", CONTENT, "a file", "file", "type"),
    Probe("plain-folder", CONTENT, "an empty folder", "folder", "type"),
    Probe("empty-file", CONTENT, "a file of 0 bytes", "file", "content", value="0"),
    Probe("data", CONTENT, "1 MiB of data", "file", "content", value="1048576"),
    Probe("holes", CONTENT, "holes of a sparse file", "file", "holes", by_store=True),
    Probe(
        "resource-fork", FINDER, "resource fork", "file", "xattr", "com.apple.ResourceFork", RESOURCE_FORK, on=(MACOS,)
    ),
    _finder("finder-type", "type and creator", "type", "5445585474747874"),
    _finder("finder-flags", "flag of the Finder (a stationery pad)", "flags", "00" * 8 + "0800"),
    _finder("finder-label", "label (a colour)", "label", "00" * 8 + "000c"),
    _xattr("xattr-small", "of 16 bytes", "16"),
    _xattr("xattr-empty", "of 0 bytes", "0"),
    _xattr("xattr-4k", "of 3,900 bytes", "3900"),
    _xattr("xattr-64k", "of 64 KiB", "65536"),
    _xattr("xattr-128k", "of 128,000 bytes", "128000", on=(MACOS,)),
    _xattr("xattr-folder", "of a folder", "16", "folder"),
    _xattr("xattr-link", "of a symbolic link", "16", "link", "trusted.probe"),
    _xattr("xattr-unicode", "whose name is not ASCII", "16", key="user.é"),
    Probe("quarantine", XATTRS, "quarantine", "file", "xattr", "com.apple.quarantine", QUARANTINE, on=(MACOS,)),
    _xattr("xattr-trusted", "that is root's alone", "16", key="trusted.probe", on=(LINUX,)),
    Probe("capability", XATTRS, "capabilities of a program", "file", "xattr", *CAPABILITY, on=(LINUX,)),
    Probe("owner", ACCESS, "owner", "file", "owner", "user", FOREIGN_ID),
    Probe("group", ACCESS, "group", "file", "owner", "group", FOREIGN_ID),
    Probe("owner-folder", ACCESS, "owner of a folder", "folder", "owner", "user", FOREIGN_ID),
    Probe("owner-link", ACCESS, "owner of a symbolic link", "link", "owner", "user", FOREIGN_ID),
    _mode("mode-private", "mode 0600", "0600"),
    _mode("mode-read-only", "mode 0444", "0444"),
    _mode("mode-executable", "mode 0755", "0755"),
    _mode("mode-all", "mode 0666", "0666"),
    _mode("setuid", "setuid", "4755"),
    _mode("setgid", "setgid", "2755"),
    _mode("mode-folder", "mode 0700 of a folder", "0700", "folder"),
    _mode("setgid-folder", "setgid of a folder", "2755", "folder"),
    _mode("sticky-folder", "sticky folder", "1777", "folder"),
    _acl("acl-user", "ACL (POSIX) for a user", "access", ACL_USER),
    _acl("acl-group", "ACL (POSIX) for a group", "access", ACL_GROUP),
    _acl("acl-default", "default ACL of a folder", "default", ACL_DEFAULT, "folder"),
    _acl("acl-mac-user", "ACL (macOS) that allows a user", "", MAC_ACL_USER),
    _acl("acl-mac-group", "ACL (macOS) that denies a group", "", MAC_ACL_GROUP),
    _acl("acl-mac-inherited", "ACL (macOS) of a folder, to be inherited", "", MAC_ACL_INHERITED, "folder"),
    Probe("flag-nodump", FLAGS, "nodump", "file", "flag", "nodump"),
    Probe("flag-noatime", FLAGS, "noatime", "file", "flag", "noatime", on=(LINUX,)),
    Probe("flag-hidden", FLAGS, "hidden", "file", "flag", "hidden", on=(MACOS,)),
    Probe("flag-opaque", FLAGS, "opaque", "folder", "flag", "opaque", on=(MACOS,)),
    _time("mtime-seconds", "mtime in seconds", f"{IN_2001}.000000000"),
    _time("mtime-nanoseconds", "mtime to the nanosecond", f"{IN_2001}.123456789"),
    _time("mtime-1938", "mtime before 1970", f"{IN_1938}.000000000"),
    _time("mtime-2040", "mtime after 2038", f"{IN_2040}.000000000"),
    _time("mtime-2107", "mtime after 2106", f"{IN_2107}.000000000"),
    _time("mtime-folder", "mtime of a folder", f"{IN_2001}.000000000", "folder"),
    _time("mtime-link", "mtime of a symbolic link", f"{IN_2001}.000000000", "link"),
    _time("atime", "atime", f"{IN_2100}.000000000", key="atime"),
    Probe("birth", TIMES, "birth time", "file", "birth", value=f"{IN_2001}.000000000"),
    Probe("link", LINKS, "relative symbolic link", "link", "target", value="nowhere"),
    Probe("link-absolute", LINKS, "absolute symbolic link", "link", "target", value="/nowhere/at all"),
    Probe("link-above", LINKS, "symbolic link that leads above", "link", "target", value="../../.."),
    Probe("hard-link", LINKS, "hard link", "hard link", "hard link"),
    Probe("fifo", LINKS, "fifo", "fifo", "type"),
    Probe("device", LINKS, "device", "device", "type"),
    _of_names("name-255-bytes", "name of 255 bytes", "n" * 255),
    _of_names("name-255-characters", "name of 255 characters of 2 bytes", "é" * 255),
    _of_names("name-85-wide", "name of 85 characters of 3 bytes", "あ" * 85),
    _of_names("name-nfc", "é as one character (NFC)", "caf\u00e9"),
    _of_names("name-nfd", "é as two characters (NFD)", "cafe\u0301"),
    _of_names("name-nfc-and-nfd", "both together", "caf\u00e9", "cafe\u0301"),
    _of_names("name-case", "A and a together", "NAME", "name"),
    _of_names("name-emoji", "emoji", "smile \U0001f600"),
    _of_names("name-private-use", "U+F022, by which SMB stands for a colon", "a\uf022b"),
    _of_names("name-not-utf8", "bytes that are not UTF-8", "latin-1 \udce9"),
    _of_names("name-colon", "colon, which a Mac's Finder shows as a slash", "a:b"),
    _of_names("name-backslash", "backslash", "a\\b"),
    _of_names("name-asterisk", "asterisk", "a*b"),
    _of_names("name-question-mark", "question mark", "a?b"),
    _of_names("name-quotation-mark", "quotation mark", 'a"b'),
    _of_names("name-less-than", "less-than sign", "a<b"),
    _of_names("name-greater-than", "greater-than sign", "a>b"),
    _of_names("name-bar", "vertical bar", "a|b"),
    _of_names("name-percent", "percent sign", "100%2F"),
    _of_names("name-trailing-dot", "dot at the end", "end."),
    _of_names("name-trailing-space", "space at the end", "end "),
    _of_names("name-leading-space", "space at the beginning", " begin"),
    _of_names("name-hidden", "dot at the beginning", ".hidden"),
    _of_names("name-apple-double", "._ at the beginning", "._note"),
    _of_names("name-control", "control character", "a\x01b"),
    _of_names("name-newline", "line break", "a\nb"),
    _of_names("name-icon", "carriage return at the end, as of a Mac's icons", "Icon\r"),
    _of_names("name-device", "name of a device of Windows", "CON", "aux.txt"),
)
# An object without an attribute, to compare others of its kind with. A plain file and folder are among PROBES
PLAIN_LINK = Probe("plain-link", CONTENT, "a symbolic link", "link", "type")
ALL = (*PROBES, PLAIN_LINK)


def laid_on(platform: str) -> tuple[Probe, ...]:
    """The probes of a platform, with plain objects."""
    return tuple(probe for probe in ALL if platform in probe.on)


def readable(source: str, reader: str) -> tuple[Probe, ...]:
    """The probes of the platform ``source`` that the platform ``reader`` can read."""
    return tuple(probe for probe in laid_on(source) if source == reader or probe.is_alike)


def known_to(platforms: Iterable[str]) -> tuple[Probe, ...]:
    """The probes of any of these platforms, for a table."""
    chosen = set(platforms)
    return tuple(probe for probe in PROBES if chosen & set(probe.on))
