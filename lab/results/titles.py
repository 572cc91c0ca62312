"""The title of a run, `[lab] title`: it is in every figure, and may contain names."""

import re

from lab.base.masking import is_mask

_WORD = re.compile(r"[^\W\d_][\w.'\u2019-]*", re.UNICODE)
# Letters and then digits, or only capitals, are a model or an abbreviation: DS920+, M4, i7-8700, RAID, MTU
_MODEL = re.compile(
    r"[A-Za-z]{1,5}[0-9][\w.+-]*|[A-Z]{2,5}[0-9]*s?|[a-z]{1,2}[A-Z]\w+|[\w.-]*[Bb]it(?:/s|ps)?|[GMk]bE?|[KMGT]i?B|"
    r"[0-9]+[A-Za-z]{0,3}"
)
_KNOWN = frozenset(
    """
    macbook mac macs mini minis pro air studio imac apple intel amd ryzen xeon core ultra max silicon arm raspberry pi
    synology qnap truenas freenas unraid openmediavault asustor terramaster ugreen buffalo western digital seagate
    ironwolf exos red samsung crucial kingston sandisk wd toshiba hitachi hgst micron netgear ubiquiti unifi mikrotik
    cisco aruba tp-link d-link asus fritz box zyxel thunderbolt ethernet wi-fi wifi wlan lan usb-c usb type-c realtek
    mellanox aquantia marvell broadcom linux debian ubuntu fedora arch alpine proxmox freebsd macos os windows server
    sierra mojave catalina monterey ventura sonoma sequoia tahoe snow leopard lion samba netatalk ganesha ksmbd nfs smb
    afp ssh zfs openzfs ext btrfs xfs apfs hfs ram disk raid ssd hdd nvme sata sas diskstation readynas time capsule
    airport switch router cable fibre fiber copper jumbo frames local lab kernel one two three four five six seven
    eight nine ten the a an my our old new first second third both same different between from to with without over and
    or of on at in by via before after against versus vs test tests home office living room basement cellar attic
    upstairs downstairs direct direkt not measurement synthetic emulated no yes gigabit client clients servers host
    hosts share nas network link invented delay each way data all what how why cat january february march april may
    june july august september october november december monday tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905 – easier to read
)


def doubtful_words(title: str) -> list[str]:
    """The words of a title that may be names: they have a capital letter, and describe no machine."""
    words = (word.rstrip(".'\u2019-") for word in _WORD.findall(title))
    return [word for word in dict.fromkeys(words) if _may_be_name(word)]


def _may_be_name(word: str) -> bool:
    plain = re.sub(r"['\u2019]s$", "", word)
    is_machine = all(
        part.casefold() in _KNOWN or _MODEL.fullmatch(part)
        for part in ([plain] if plain.casefold() in _KNOWN else plain.split("-"))
    )
    return len(plain) > 1 and plain != plain.casefold() and not is_machine and not is_mask(plain)
