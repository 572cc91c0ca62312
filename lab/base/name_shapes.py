"""Identifiers that are known by their shape: addresses, serial numbers, names of disks and of hosts."""

import re

# After @ in names of ciphers: RFC 4251, section 6
OWNERS_OF_ALGORITHMS = frozenset({"openssh.com", "libssh.org", "lysator.liu.se"})
_TYPE_OF_PARTITION = "11AA-AA11-00306543ECAC"  # the end of the UUIDs of Apple's partition types
# A time of day, a SCSI address, a PCI address
_NO_ADDRESS = re.compile(
    r"[0-2]?[0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|[0-9]{1,3}(?::[0-9]{1,3}){3}:?|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
)
# Folders in which udev, FreeBSD, device mapper and OpenZFS on OS X put links named after a disk
_LINKS = "|".join(
    rf"(?<=/{folder}/)"
    for folder in ("by-id", "by-label", "by-partlabel", "by-serial", "by-vdev", "by-uuid", "by-partuuid", "mapper",
                   "diskid", "gptid", "zvol", "label")
)  # fmt: skip
_BUSES = "ata|usb|scsi|sas|sata|nvme|mmc|virtio|ieee1394|md-(?:name|uuid)|dm-(?:name|uuid)|lvm-pv-uuid|media"
_OF_LINK = r"(?:(?!-part[0-9])[^\s/\"'<>,;()\[\]]){1,255}(?<![.:])"
SHAPES = {
    "uuid": r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])",
    "key": r"(?<=SHA256:)[A-Za-z0-9+/]{43}|(?:(?<=MD5:)|(?<![\w:]))(?:[0-9a-f]{2}:){15}[0-9a-f]{2}(?![\w:])"
    r"|(?<![\w+/])AAAA[A-Za-z0-9+/]{40,4000}={0,2}",
    "device": rf"(?:{_LINKS})(?!control\b){_OF_LINK}"
    rf"|(?<![\w./-])(?:{_BUSES})-(?=[^\s/]{{0,80}}[0-9])(?=[^\s/]{{0,80}}_|(?:nvme|eui|0x|3)[.0-9a-f]{{9}}){_OF_LINK}"
    r"|(?<![\w.-])(?:wwn-|lu-)?(?:0x[2356][0-9a-f]{15}(?:[0-9a-f]{16})?|(?:eui|naa|nguid)\.[0-9a-f]{16,32})(?![0-9a-z])"
    r"|(?<![\w.-])(?:(?:nqn|iqn)\.[0-9]{4}-[0-9]{2}\.|nvme\.[0-9a-f]{4}-|(?-i:DISK-))[\w.:-]{4,200}(?<![.:])",
    "mail": r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?=[\w-]{0,62}[^\W\d])[\w-]{1,63}",
    "mac": r"(?<![\w:.-])[0-9A-Fa-f]{1,2}(?P<between>[:.-])(?:[0-9A-Fa-f]{1,2}(?P=between)){4}[0-9A-Fa-f]{1,2}(?![\w:])"
    r"|(?<![0-9A-Za-z])(?=[0-9]{0,11}[a-f])[0-9a-f]{12}(?![0-9A-Za-z])"
    r"|(?<![\w.])(?=[0-9.]{0,13}[a-f])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])",
    "ipv6": r"(?<![\w:.-])(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f:.]{0,40}",
    "ipv4": r"(?<![0-9])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9])|(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}/[0-9]{1,2}\b"
    r"|(?<![0-9.])(?:192\.168|172\.(?:1[6-9]|2[0-9]|3[01])|169\.254)(?:\.[0-9]{1,3})?(?![0-9])",
    "folder": r"/var/folders/[^\s/]{1,8}/[^\s/]{1,64}",
    "serial": r"(?-i:(?<![A-Za-z0-9_-])(?:WD-)?(?=[A-Z]{0,13}[0-9])(?=[0-9]{0,13}[A-Z])[A-Z0-9]{10,14}(?![A-Za-z0-9_-])"
    r"|(?<![A-Za-z0-9-])(?=[A-Z]{0,11}(?:[0-9][A-Z]*){4})(?=[0-9]{0,19}[A-Z])[A-Z0-9]{15,20}(?![A-Za-z0-9_-])"
    r"|(?<=[A-Za-z0-9]_)(?:WD-)?(?=[A-Z]{0,12}(?:[0-9][A-Z]*){3})(?=[0-9]{0,13}[A-Z])[A-Z0-9]{9,14}(?![A-Za-z0-9_-])"
    r"|(?<![A-Za-z0-9_-])(?:WD-W[A-Z0-9]{6,13}|(?:DESKTOP|LAPTOP)-[A-Z0-9]{6,8})(?![A-Za-z0-9_-]))",
}  # fmt: skip

# Ends of host names with two parts; files, options and sentences hardly end so
_SHORT = (
    "com|net|org|edu|gov|info|biz|eu|onion|dev|cloud|online|site|xyz|ae|ar|at|au|be|br|ca|ch|cl|cn|cz|de|dk|ee|es|fi|fr|"
    "gr|hk|hr|hu|ie|il|io|it|jp|kr|li|lt|lu|lv|me|mx|nl|no|nz|pt|ro|ru|se|sg|sk|tr|tv|tw|ua|uk|us|za"
)
_LONG = (  # with three parts or more
    f"{_SHORT}|mil|int|app|tech|systems|digital|email|family|house|club|top|zone|ac|ai|ba|bg|by|cc|co|cy|ec|ge|hm|id|in|"
    "ir|is|ke|kz|la|ma|md|mk|my|ng|pe|ph|pk|pl|qa|re|rs|sa|si|st|su|th|tk|to|uy|vn|ws"
)
_AT_HOME = r"local|lan|home|internal|intranet|corp|localdomain|(?:fritz|o2|easy)\.box|speedport\.ip|home\.arpa"
_LABEL = r"[A-Za-z0-9_](?:[\w-]{0,61}[A-Za-z0-9])?"
_BEFORE = r"(?:(?<=//)|(?<=\\\\)|(?<![\w.@/\\$%+-]))"
HOST_NAME = (
    rf"{_BEFORE}(?!(?:com|org|net|gov|edu|io)\.)(?=[0-9.-]{{0,80}}[A-Za-z])"
    rf"((?:{_LABEL}\.){{2,6}}(?:{_LONG})|(?:{_LABEL}\.){{1,6}}(?:{_SHORT}))"
    r"(?![\w(=\[-]|\.[\w-])"
)
HOST_AT_HOME = rf"(?<![\w.-])(?!\S{{0,80}}\._)([\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,4}}\.(?i:{_AT_HOME}))(?!\.?[\w-])"
# Hosts of projects, which messages and manuals name: they identify nobody
_OF_PROJECTS = re.compile(
    r"(?:[\w-]+\.)*(?:apple|microsoft|openssh|redhat|ubuntu|canonical|github|stackexchange|techterms|zx2c4)\.com"
    r"|(?:[\w-]+\.)*(?:samba|kernel|openbsd|freebsd|openzfs|zfsonlinux|illumos|freedesktop|gnome|debian|gnu|python|ietf|"
    r"rfc-editor|w3|iana|libssh|smartmontools|fedoraproject|archlinux|openzfsonosx|pypi|nfs-ganesha|wikipedia|dask)\.org"
    r"|(?:[\w-]+\.)?(?:launchpad\.net|es\.net|iperf\.fr|netatalk\.io|macfuse\.io|brew\.sh|man7\.org|lysator\.liu\.se)"
    r"|(?:openzfs|osxfuse|macfuse|libfuse)\.github\.io|oceansidecoding\.wordpress\.com",
    re.IGNORECASE,
)


def is_of_a_project(host: str) -> bool:
    """Whether a host name belongs to a project that messages and manuals refer to."""
    return _OF_PROJECTS.fullmatch(host) is not None


def identifies_nothing(shape: str, text: str) -> bool:
    """Whether a text of this shape is the same on every host, or no address after all."""
    if shape == "uuid":
        return text.upper().endswith(_TYPE_OF_PARTITION)
    if shape == "mac":
        return not re.search("[1-9a-eA-E]", text) or text.casefold() == ":".join(["ff"] * 6)
    if shape == "ipv6":
        return bool(_NO_ADDRESS.fullmatch(text)) or text.strip(":").strip("0:") in ("", "1")
    if shape == "ipv4":
        groups = text.split("/")[0].split(".")
        return max(map(int, groups)) > 255 or groups[0] in ("0", "127", "255") or text == "192.0.2.255"
    return False


def kind_of_address(shape: str, text: str) -> str:
    """The kind of mask for a text of this shape."""
    if shape == "ipv6" and len([part for part in text.split(":") if part]) == text.count(":") + 1 == 6:
        return "mac"
    return "link-local" if shape == "ipv6" and text.casefold().startswith("fe80") else shape
