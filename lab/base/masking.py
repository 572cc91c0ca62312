"""What may be shown to strangers of a host's output: names, addresses and serial numbers are masked.

A mask has the shape of what it stands for, so that a parser still reads the text. The same name has the same mask
wherever it stands. Masked are the names that :meth:`Masker.know` was given, those that :meth:`Masker.learn` found where
outputs have names, and all that looks like an address, a UUID or a serial number. In doubt a word is masked.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote, unquote

MOST_NAMES = 2000  # that a text is searched for; a host with more of them is an error, and nothing of it is shown
_LONGEST = 255  # characters of a name
# Names that every Mac has, and the first part of names in every lab: keys of a sweep begin so. They identify nobody
COMMON = frozenset({
    "root", "daemon", "nobody", "admin", "staff", "wheel", "guest", "shared", "localhost", "broadcasthost", "system",
    "data", "preboot", "recovery", "vm", "update", "hardware", "home", "users", "volumes", "library", "*", "?",
    ".localized", "www.apple.com", "macintosh hd", "system administrator", "system services", "unprivileged user",
    "client", "server",
})  # fmt: skip
_DOMAINS = r"local|lan|home|internal|fritz\.box|home\.arpa"  # of networks at home
# Where outputs have names: of mounts and URLs, `sharing -l`, `smbutil statshares`, nfsstat, ioreg
_URL = r"(?:(?:^|[\s\"'>])|(?:afp|smb|nfs|cifs|ssh):)//"
_PLACES = tuple(  # the first group of each pattern is a name of this kind
    (kind, re.compile(pattern, re.MULTILINE))
    for kind, pattern in (
        ("user", rf"{_URL}(?:[^@/:;\s]{{1,255}};)?([^@/:;\s]{{1,255}})(?::[^@/\s]{{0,255}})?@"),
        ("host", rf"{_URL}(?:[^@/\s]{{1,255}}@)?([^@/:\s]{{1,255}})(?::[0-9]+)?(?:/|$)"),
        ("share", rf"{_URL}[^/\s]{{1,255}}/([^/\n]{{1,255}}?)(?: on /|[\s\"'<]|$)"),
        ("host", r"^([^\s:/]{1,255}):/.* on /"),
        ("host", r" from ([^\s:/]{1,255}):/"),
        ("path", r"^[^\s:/]{1,255}:/(\S{1,255}) on /"),
        ("path", r" from [^\s:/]{1,255}:/(\S{1,255})"),
        ("host", r" @ (\S{1,255}) \("),
        ("user", r"mounted by ([^),\n]{1,255})"),
        ("share", r"^\s*name:[ \t]+(?!NA,)(\S[^\n]{0,255})$"),
        ("share", r"^(\S[^\n]{0,255}?)[ \t]*\n[ \t]+SERVER_NAME"),
        ("host", r"SERVER_NAME[ \t]+(\S[^\n]{0,255})$"),
        (
            "host",
            rf"\b([\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,4}}\.(?:{_DOMAINS}))(?!\.?[\w-])",
        ),
        ("serial", r"(?i:serial)[ _-]?(?i:number|no)?[\"']?[ \t]*[:=]?[ \t]*[\"']?([A-Z0-9]{6,20})\b"),
    )
)
# After @ in names of ciphers: RFC 4251, section 6
_OWNERS_OF_ALGORITHMS = frozenset({"openssh.com", "libssh.org", "lysator.liu.se"})
_MODEL = re.compile(r"(?:i?Mac|Macmini|MacPro|MacBook(?:Pro|Air)?|VirtualMac|Xserve)[0-9]{1,2}", re.IGNORECASE)
_TYPE_OF_PARTITION = "11AA-AA11-00306543ECAC"  # how the UUIDs of Apple's partition types end: the same everywhere
_TIME = re.compile(r"[0-2]?[0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?")
_SHAPES = {
    "uuid": r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])",
    "mail": r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}",
    "mac": r"(?<![\w:.-])[0-9A-Fa-f]{1,2}(?P<between>[:.-])(?:[0-9A-Fa-f]{1,2}(?P=between)){4}[0-9A-Fa-f]{1,2}(?![\w:])"
    r"|(?<![0-9A-Za-z])(?=[0-9]{0,11}[a-f])[0-9a-f]{12}(?![0-9A-Za-z])",
    "ipv6": r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f:.]{0,40}",
    "ipv4": r"(?<![0-9])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9])|(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}/[0-9]{1,2}\b"
    r"|(?<![0-9.])(?:192\.168|172\.(?:1[6-9]|2[0-9]|3[01])|169\.254)(?:\.[0-9]{1,3})?(?![0-9])",
    "folder": r"/var/folders/[^\s/]{1,8}/[^\s/]{1,64}",
    "serial": r"(?-i:(?<![A-Za-z0-9_-])(?=[A-Z]{0,13}[0-9])(?=[0-9]{0,13}[A-Z])[A-Z0-9]{10,14}(?![A-Za-z0-9_-]))",
}
# A part of a path, up to what ends a path in some output; and the folders whose parts are names
_PART = r"[^/\n\t<>\"'(,:]{1,255}?(?=[/\n\t<>\"'(,:]| \(| -| on /| from |  |\s*$)"
_PARENTS = "(?:(?<=/Users/)|(?<=/Volumes/)|(?<=/home/))"
_FOLDERS = frozenset({"path", "share", "volume"})  # kinds of names below which everything else is a name too
# By group of the pattern that finds names: of what kind one is that nobody named
_OTHERWISE = {"path": "path", "below": "path", "compound": "name", "known": "name", "longer": "name"}
_IN_LONGER = 5  # characters: a shorter name is a part of too many words that are no names


class Masker:
    """Replaces what names a host or a person. The same name, however it is written, has the same mask."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}  # by folded name: its kind, and how it was written
        self._folded_names: dict[str, str] = {}  # by each folded spelling
        self._masks: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._pattern: re.Pattern[str] | None = None
        self._learned: set[str] = set()

    def know(self, kind: str, *names: str) -> None:
        """Mask names of a kind: ``host``, ``user``, ``person``, ``share``, ``volume``, ``serial`` or another word.

        Raises ValueError for more than can be searched for.
        """
        for name in (name.strip() for name in names):
            if _is_address(name):
                continue
            if kind == "host" and "." in name:
                self._know_host(name)
            else:
                self._add(kind, name)

    def learn(self, text: str) -> None:
        """Find the names that stand where outputs of Macs have names. Raises ValueError as :meth:`know`."""
        if text in self._learned:  # runs of the same hosts say the same
            return
        for kind, place in _PLACES:
            self.know(kind, *(unquote(match.strip("\"'")) for match in place.findall(text)))
        for kind, folder in (("user", "Users"), ("user", "home"), ("volume", "Volumes")):
            self.know(kind, *re.findall(rf"/{folder}/({_PART})", text, re.MULTILINE))
        self._learned.add(text)

    def mask(self, text: str) -> str:
        """The text with masks. Learn from all texts first: then a name is masked anywhere, not in its place alone."""
        if self._pattern is None:
            self._pattern = self._compiled()
        return self._pattern.sub(self._replace, text)

    def names_in(self, text: str) -> Iterator[tuple[str, str]]:
        """The kind and the text of whatever :meth:`mask` would replace there, but for what are masks already."""
        if self._pattern is None:
            self._pattern = self._compiled()
        for match in self._pattern.finditer(text):
            kind = match.lastgroup or ""
            if self._replace(match) == match[0]:
                continue
            for part in _parts(match):
                key = self._folded_names.get(_folded(part), _folded(part))
                if key not in COMMON and not is_mask(part):
                    yield self._names[key][0] if key in self._names else _OTHERWISE.get(kind, kind), part

    @property
    def replaced(self) -> list[tuple[str, str, str]]:
        """The kind, the name and the mask of all that was masked so far, in the order in which it was first met."""
        return [
            (kind, self._names[key][1] if key in self._names else key, mask)
            for (kind, key), mask in self._masks.items()
        ]

    def _know_host(self, name: str) -> None:
        """A full name and its first part are one host; what follows is a domain, which others may have as well."""
        first, _, domain = name.partition(".")
        self._add("host", name)
        if _folded(first) not in COMMON:
            self._add("host", first)
            self._masks["host", _folded(first)] = self._mask_for("host", _folded(name))
        if "." in domain:
            self._add("domain", domain)

    def _add(self, kind: str, name: str) -> None:
        folded = _folded(name)
        if 1 < len(name) <= _LONGEST and folded not in COMMON and folded not in self._names:
            if len(self._names) >= MOST_NAMES:
                raise ValueError(f"more than {MOST_NAMES} names to mask")
            self._names[folded] = kind, name
            self._folded_names |= {_folded(spelling): folded for spelling in _spellings(name)}
            self._pattern = None

    def _compiled(self) -> re.Pattern[str]:
        """One pattern for all: names that have an address in them first, so that no rest of one is left."""
        names = sorted((name for _, name in self._names.values()), key=len, reverse=True)
        folders = [name for name in names if self._names[_folded(name)][0] in _FOLDERS]
        addresses = re.compile("|".join(_SHAPES.values()))
        compound = [name for name in names if addresses.search(name)]
        known = {"known": _any_of(names), "longer": _within_word(name for name in names if len(name) >= _IN_LONGER)}
        first = rf"(?:{known['known']}(?=[/\s\"'<(,:]|$)|{_PART})" if names else _PART
        below = rf"(?P<above>{_any_of(folders)})(?:/{_PART})+" if folders else ""
        groups = {
            "path": rf"{_PARENTS}{first}(?:/{_PART})*", "below": below, "compound": _any_of(compound),
            **_SHAPES, **known,
        }  # fmt: skip
        pattern = "|".join(f"(?P<{name}>{pattern})" for name, pattern in groups.items() if pattern)
        return re.compile(pattern, re.IGNORECASE | re.MULTILINE)

    def _replace(self, match: re.Match[str]) -> str:
        kind, text = match.lastgroup or "", match[0]
        if kind in _OTHERWISE:
            return "/".join(self._mask_of_name(part, _OTHERWISE[kind]) for part in _parts(match))
        if kind == "mail":
            account, _, domain = text.partition("@")
            if domain.casefold() in _OWNERS_OF_ALGORITHMS:
                return text
            return f"{self._mask_of_name(account, 'mail')}@{self._mask_of_name(domain, 'domain')}"
        return (
            text if _identifies_nothing(kind, text) else self._mask_for(_kind_of_address(kind, text), text.casefold())
        )

    def _mask_of_name(self, text: str, otherwise: str) -> str:
        """The mask of a name; one that nobody named before counts as of the kind ``otherwise``."""
        key = self._folded_names.get(_folded(text), _folded(text))
        if key in COMMON or _MODEL.fullmatch(text):  # a Mac that is called macmini is still a Macmini9,1
            return text
        return self._mask_for(self._names[key][0] if key in self._names else otherwise, key)

    def _mask_for(self, kind: str, key: str) -> str:
        if (kind, key) not in self._masks:
            self._counts[kind] = number = self._counts.get(kind, 0) + 1
            self._masks[kind, key] = _new_mask(kind, number)
        return self._masks[kind, key]


def _parts(match: re.Match[str]) -> list[str]:
    """The names that are between the slashes of a path, or the one name that it is."""
    if match.lastgroup == "path":
        return match[0].split("/")
    if match.lastgroup == "below":
        above = match["above"]  # which may have slashes in it
        return [above, *match[0][len(above) + 1 :].split("/")]
    return [match[0]]


_MASK = re.compile(
    r"(?:host|user|person|share|volume|serial|path|domain|mail|device|name|folder)-[0-9]+"
    r"|192\.0\.2\.[0-9]+|2001:db8::[0-9a-f]+|fe80::[0-9a-f]+|02:00:00(?::[0-9a-f]{2}){3}"
    r"|00000000-0000-4000-8000-[0-9]{12}|/var/folders/zz/folder-[0-9]+"
)


def is_mask(text: str) -> bool:
    """Whether a text is what :class:`Masker` writes in place of a name, or has the form of one."""
    return _MASK.fullmatch(text.casefold()) is not None


def _new_mask(kind: str, number: int) -> str:
    """The mask of this number, in the shape of its kind; of IP addresses one of those reserved for documentation."""
    shaped = {
        "ipv4": str(ipaddress.IPv4Address("192.0.2.0") + number),  # RFC 5737
        "ipv6": f"2001:db8::{number:x}",  # RFC 3849
        "link-local": f"fe80::{number:x}",
        "mac": f"02:00:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}",
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "folder": f"/var/folders/zz/folder-{number}",
    }
    return shaped.get(kind, f"{kind}-{number}")


def _identifies_nothing(shape: str, text: str) -> bool:
    """Whether it is the same on every host, or no address after all."""
    if shape == "uuid":
        return text.upper().endswith(_TYPE_OF_PARTITION)
    if shape == "mac":
        return not re.search("[1-9a-eA-E]", text) or text.casefold() == ":".join(["ff"] * 6)
    if shape == "ipv6":
        return bool(_TIME.fullmatch(text)) or text.strip(":").strip("0:") in ("", "1")
    if shape == "ipv4":
        groups = text.split("/")[0].split(".")
        return max(map(int, groups)) > 255 or groups[0] in ("0", "127", "255") or text == "192.0.2.255"
    return False


def _kind_of_address(shape: str, text: str) -> str:
    if shape == "ipv6" and len([part for part in text.split(":") if part]) == text.count(":") + 1 == 6:
        return "mac"
    return "link-local" if shape == "ipv6" and text.casefold().startswith("fe80") else shape


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _spellings(name: str) -> Iterator[str]:
    """How outputs write a name: as it is, decomposed, in a URL, in XML, escaped for a shell, with dashes."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, name)
        yield from (text, quote(text), quote(text, safe="!'()*"), escape(text), escape(text, quote=False))
        yield from (text.replace(" ", mark) for mark in (r"\ ", r"\040", "-", "_", "\N{NO-BREAK SPACE}"))


def _any_of(names: Iterable[str]) -> str:
    """The pattern of names as words of their own; empty for none."""
    return rf"(?<![^\W_])(?:{texts})(?![^\W_])" if (texts := _alternatives(names)) else ""


def _within_word(names: Iterable[str]) -> str:
    """The pattern of whole words that have one of the names in them; empty for none."""
    texts = _alternatives(names)
    return rf"(?<![^\W_])[^\W_]{{0,{_LONGEST}}}?(?:{texts})[^\W_]{{0,{_LONGEST}}}" if texts else ""


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, dict.fromkeys(spelling for name in names for spelling in _spellings(name))))
