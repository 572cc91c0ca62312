"""A host's output without anything that identifies somebody: names, addresses and serial numbers are masked.

A mask has the shape of what it replaces, so that parsers still read the text. A name has the same mask everywhere.
Three kinds are masked: names given to :meth:`Masker.know`; names that :meth:`Masker.learn` finds in their usual places;
and whatever looks like an address, a UUID or a serial number. In doubt a word is masked. All passwords become the same
mask.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote, unquote

from lab.base.name_places import PLACES, SAYINGS, is_ordinary
from lab.base.name_shapes import OWNERS_OF_ALGORITHMS, SHAPES, identifies_nothing, is_of_a_project, kind_of_address
from lab.base.secret_texts import MASK as PASSWORD
from lab.base.secret_texts import without_secrets

MOST_NAMES = 2000  # more are an error, and nothing is shown
_LONGEST = 255  # characters of a name
# Names that every Mac or every lab has: they identify nobody
COMMON = frozenset({
    "root", "daemon", "nobody", "admin", "staff", "wheel", "guest", "shared", "localhost", "broadcasthost", "system",
    "data", "disk", "preboot", "recovery", "vm", "update", "hardware", "home", "users", "volumes", "library", "*", "?",
    ".localized", "www.apple.com", "macintosh hd", "system administrator", "system services", "unprivileged user",
    "client", "server", "lab", "labram", "workgroup", "builtin", "nt authority", "unix user", "unix group",
})  # fmt: skip
_MODEL = re.compile(r"(?:i?Mac|Macmini|MacPro|MacBook(?:Pro|Air)?|VirtualMac|Xserve)[0-9]{1,2}", re.IGNORECASE)
_MASK_TEXT = (
    r"(?:host|user|person|share|volume|serial|path|domain|mail|device|name|network|key|folder)-[0-9]+"
    r"|192\.0\.2\.[0-9]+|2001:db8::[0-9a-f]+|fe80::[0-9a-f]+|02:00:00(?::[0-9a-f]{2}){3}"
    r"|00000000-0000-4000-8000-[0-9]{12}|/var/folders/zz/folder-[0-9]+"
)
_MASK = re.compile(_MASK_TEXT)
_MASKS_IN_TEXT = re.compile(rf"(?<![\w.:-])(?:{_MASK_TEXT})(?![\w:-])", re.IGNORECASE)
# A part of a path, up to whatever ends a path in some output; and the folders whose entries are names
_SEPARATOR = r"(?:/|\\{1,2}(?![ \\]|0[0-7]{2}))"
_SIGN = r"(?:[^/\\\n\t<>\"'`(,:]|\\[ 0]|(?<=\w)'(?=\w))"
_VERB = r"(?:is|was|are|does|did|has|can|could) (?:not|no|a|an|in|already|busy|full|being|mounted|gone|read-only)\b"
_END = rf"{_SEPARATOR}|[\n\t<>\"`(,:]|'(?!\w)| \(| -| on /| from | onto | failed| not found| already |  |\s*$| {_VERB}"
_WORD = r"[^\s/\\<>\"'`(,:;|]{1,255}"
_PART = rf"(?:(?:{_MASK_TEXT})(?![\w-])|{_SIGN}{{1,255}}?(?<! )(?={_END})|{_WORD})"
_PARENTS = "|".join(
    rf"(?<=/{folder}/)"
    for folder in ("Users", "Volumes", "home", "media", "mnt", "srv", "export", "exports", "volume[1-9]",
                   "CACHEDEV[1-9]_DATA")
) + r"|(?<=[\s\"'`(=]/share/)|(?<=^/share/)|(?<=[\s\"'`(]\./)|(?<=:\\Users\\)|(?<=:\\\\Users\\\\)"  # fmt: skip
# Folders of systems; in any other path of two or more parts each part is a name
_SYSTEM = (
    "usr|bin|sbin|lib[0-9x]*|etc|var|dev|proc|sys|run|tmp|boot|opt|root|System|Library|Applications|private|nix|snap|cores|"
    "home|Users|Volumes|media|mnt|srv|exports?|volume[1-9]|share|linux|path|dir|folder"
)
_OF_OTHER = rf"(?=[\w.])(?:{_SIGN}{{1,255}}?(?<! )(?={_SEPARATOR})|{_WORD}(?<!\.)(?-i: [A-Z0-9][\w.-]*[a-z][\w.-]*)*)"
_OTHER = rf"(?:(?<=[\s\"'`(=]/)|(?<=^/))(?!(?:{_SYSTEM})(?:/|\b)){_OF_OTHER}(?:/{_OF_OTHER})+"
_FOLDERS = frozenset({"path", "share", "volume"})  # kinds of names below which everything else is a name too
# The kind of a name that nobody named, by the pattern group that found it
_OTHERWISE = {"path": "path", "below": "path", "other": "path", "compound": "name", "known": "name", "longer": "name"}
_IN_LONGER = 5  # characters; shorter names are part of too many ordinary words


class Masker:
    """Replaces what names a host or a person. The same name, however it is written, has the same mask."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}  # by folded name: its kind, and how it was written
        self._folded_names: dict[str, str] = {}  # by each folded spelling
        self._masks: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._pattern: re.Pattern[str] | None = None
        self._learned: set[str] = set()
        self._seen: set[str] = set()  # masks already in the texts, from an earlier masking

    def know(self, kind: str, *names: str) -> None:
        """Mask names of a kind, such as ``host``, ``user`` or ``serial``. Raises ValueError for too many."""
        for name in (name.strip() for name in names):
            if _is_address(name):
                continue
            first, dot, domain = name.partition(".")
            if kind == "host" and dot:
                self._know_with_part(kind, name, first)
                if "." in domain:  # other hosts may have the domain as well
                    self._add("domain", domain)
            elif kind == "device" and "/" in name:
                self._know_with_part(kind, name, name.rpartition("/")[2])
            else:
                self._add(kind, name)

    def learn(self, text: str) -> None:
        """Find names in their usual places in texts of hosts. Raises ValueError as :meth:`know` does."""
        if text in self._learned:  # runs of the same hosts say the same
            return
        text_shown = without_secrets(text)
        self._seen.update(match.casefold() for match in _MASKS_IN_TEXT.findall(text_shown))
        for kind, place in PLACES:
            self.know(kind, *_found(place, text_shown))
        for kind, place in SAYINGS:
            for name in _found(place, text_shown):
                first, dot, _ = name.partition(".")
                if is_ordinary(name) or is_of_a_project(name):
                    continue
                if dot and is_ordinary(first):  # the first part alone tells nothing
                    self._add(kind, name)
                else:
                    self.know(kind, name)
        for kind, folder in (("user", "Users"), ("user", "home"), ("volume", "Volumes")):
            self.know(kind, *re.findall(rf"/{folder}/({_PART})", text_shown, re.MULTILINE))
        self._learned.add(text)

    def mask(self, text: str) -> str:
        """The text with masks. Learn from all texts first: then a name is masked wherever it occurs."""
        shown = without_secrets(text)
        if PASSWORD in shown:
            self._masks["password", PASSWORD] = PASSWORD
        return self._compiled().sub(self._replace, shown)

    def names_in(self, text: str) -> Iterator[tuple[str, str]]:
        """The kind and the text of whatever :meth:`mask` would replace; passwords are not repeated."""
        shown = without_secrets(text)
        if shown != text:
            yield "password", PASSWORD
        for match in self._compiled().finditer(shown):
            kind = match.lastgroup or ""
            if self._replace(match) == match[0]:
                continue
            for part in _parts(match)[::2]:
                key = self._folded_names.get(_folded(part), _folded(part))
                if part and key not in COMMON and not is_mask(part):
                    yield self._names[key][0] if key in self._names else _OTHERWISE.get(kind, kind), part

    @property
    def replaced(self) -> list[tuple[str, str, str]]:
        """Kind, name and mask of all that was masked so far, in order of appearance."""
        return [
            (kind, self._names[key][1] if key in self._names else key, mask)
            for (kind, key), mask in self._masks.items()
        ]

    def _know_with_part(self, kind: str, name: str, part: str) -> None:
        """Know a name and a part of it under one mask: the first part of a host, the last part of a device's path."""
        self._add(kind, name)
        if kind == "device" and is_ordinary(part):
            return
        self._add(kind, part)
        if _folded(name) in self._names:
            self._masks[kind, _folded(part)] = self._mask_for(kind, _folded(name))

    def _add(self, kind: str, name: str) -> None:
        folded = _folded(name)
        if not 1 < len(name) <= _LONGEST or PASSWORD in name or _MASKS_IN_TEXT.search(name):
            return
        if folded not in COMMON and folded not in self._names:
            if len(self._names) >= MOST_NAMES:
                raise ValueError(f"more than {MOST_NAMES} names to mask")
            self._names[folded] = kind, name
            self._folded_names |= {_folded(spelling): folded for spelling in _spellings(name)}
            self._pattern = None

    def _compiled(self) -> re.Pattern[str]:
        """One pattern for everything. Names with an address in them come first, so that no rest of them is left."""
        if self._pattern is not None:
            return self._pattern
        names = sorted((name for _, name in self._names.values()), key=len, reverse=True)
        folders = [name for name in names if self._names[_folded(name)][0] in _FOLDERS]
        addresses = re.compile("|".join(SHAPES.values()))
        compound = [name for name in names if addresses.search(name)]
        in_longer = _alternatives(name for name in names if len(name) >= _IN_LONGER)
        around = rf"[^\W_]{{0,{_LONGEST}}}"
        known = {"known": _any_of(names), "longer": in_longer and rf"(?<![^\W_]){around}?(?:{in_longer}){around}"}
        listed = known["known"] or r"(?!)"
        first = rf"{listed}(?={_END})|{_PART}(?={_SEPARATOR})|{listed}(?=\s)|{_PART}"
        below = rf"(?P<above>{_any_of(folders)})(?:{_SEPARATOR}{_PART})+" if folders else ""
        groups = {
            "path": rf"(?:{_PARENTS})(?:{first})(?:{_SEPARATOR}{_PART})*", "below": below,
            "compound": _any_of(compound), "other": _OTHER, **SHAPES, **known,
        }  # fmt: skip
        pattern = "|".join(f"(?P<{name}>{pattern})" for name, pattern in groups.items() if pattern)
        self._pattern = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        return self._pattern

    def _replace(self, match: re.Match[str]) -> str:
        kind, text = match.lastgroup or "", match[0]
        if is_mask(text):
            return text
        if kind in _OTHERWISE:
            parts = _parts(match)
            parts[::2] = [self._mask_of_name(part, _OTHERWISE[kind]) for part in parts[::2]]
            return "".join(parts)
        if kind == "mail":
            account, _, domain = text.partition("@")
            if domain.casefold() in OWNERS_OF_ALGORITHMS:
                return text
            return f"{self._mask_of_name(account, 'mail')}@{self._mask_of_name(domain, 'domain')}"
        return text if identifies_nothing(kind, text) else self._mask_for(kind_of_address(kind, text), text.casefold())

    def _mask_of_name(self, text: str, otherwise: str) -> str:
        """The mask of a name, which has the kind ``otherwise`` if it is not known."""
        key = self._folded_names.get(_folded(text), _folded(text))
        if not text or key in COMMON or is_mask(text) or _MODEL.fullmatch(text):  # one called macmini is a Macmini9,1
            return text
        return self._mask_for(self._names[key][0] if key in self._names else otherwise, key)

    def _mask_for(self, kind: str, key: str) -> str:
        if (kind, key) not in self._masks:
            number = self._counts.get(kind, 0) + 1
            while (mask := _new_mask(kind, number)) in self._seen:
                number += 1
            self._counts[kind], self._masks[kind, key] = number, mask
        return self._masks[kind, key]


def _parts(match: re.Match[str]) -> list[str]:
    """The names in a path with the separators between them; or the one name."""
    if match.lastgroup in ("path", "other"):
        return re.split(f"({_SEPARATOR})", match[0])
    if match.lastgroup == "below":
        above = match["above"]  # may have separators in it
        return [above, *re.split(f"({_SEPARATOR})", match[0][len(above) :])[1:]]
    return [match[0]]


def _found(place: re.Pattern[str], text: str) -> Iterator[str]:
    for match in place.finditer(text):
        yield unquote(match[match.lastindex or 0].strip("\"'").rstrip("."))


def is_mask(text: str) -> bool:
    """Whether a text has the form of a mask."""
    return _MASK.fullmatch(text.casefold()) is not None


def _new_mask(kind: str, number: int) -> str:
    """The mask of this number in the shape of its kind; IP addresses are from the ranges for documentation."""
    shaped = {
        "ipv4": str(ipaddress.IPv4Address("192.0.2.0") + number),  # RFC 5737
        "ipv6": f"2001:db8::{number:x}",  # RFC 3849
        "link-local": f"fe80::{number:x}",
        "mac": f"02:00:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}",
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "folder": f"/var/folders/zz/folder-{number}",
    }
    return shaped.get(kind, f"{kind}-{number}")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _spellings(name: str) -> Iterator[str]:
    """The spellings of a name: composed and decomposed, in a URL, in XML, escaped for a shell, with dashes."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, name)
        yield from (text, quote(text), quote(text, safe="!'()*"), escape(text), escape(text, quote=False))
        yield from (text.replace(" ", mark) for mark in (r"\ ", r"\040", "-", "_", "\N{NO-BREAK SPACE}"))


def _any_of(names: Iterable[str]) -> str:
    """A pattern for these names as whole words; empty for none."""
    return rf"(?<![^\W_])(?:{texts})(?![^\W_])" if (texts := _alternatives(names)) else ""


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, dict.fromkeys(spelling for name in names for spelling in _spellings(name))))
