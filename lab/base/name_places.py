"""Places of names in texts of hosts: outputs and messages of programs, URLs, mount options. Group 1 is the name."""

import re

from lab.base.name_shapes import HOST_AT_HOME, HOST_NAME

_SCHEMES = "afp|smb|nfs|cifs|ssh|sftp|ftp|rsync|davs?"
_URL = rf"(?:(?:^|[\s\"'>=(@])|(?:{_SCHEMES}):)//"
_LOGIN = r"[^@/:;\s\[\]`]{1,255}"
# Further words of a name with blanks, within a sentence: each begins with a capital letter or a digit
_AND = r"(?:of|and|the|for|de|von|und|&|-) "
_WORDS = rf"(?: (?:{_AND})?[A-Z0-9][^\s\\/\"'`<>|:*?,;]{{0,80}}){{0,6}}"
_NAME = rf"[^\s\\/\"'`<>|:*?,;]{{1,80}}{_WORDS}"
_UNC = r"(?<![\\\w])\\{2,4}"
_HOST = r"[A-Za-z0-9][\w.-]{0,62}[\w]"
_NFS = r"(?<![\w./:@%=${-])(?!(?:PATH|file|https?|env|keyring|mailto|data):)"
_DOMAIN = r"(?<![\w\\./:-])"
_GVFS = r"(?:smb-share|smb-server|afp-volume|afp-server|sftp|davs?|ftp|nfs|mtp|afc):[^\s\"']{0,200}?"
_SERVICES = "smb|afpovertcp|ssh|sftp-ssh|nfs|adisk|device-info|rfb|workstation|http"
_MACHINE = (
    r"Mac(?:[ -]?mini|Book(?:[ -](?:Pro|Air))?|[ -]Pro|[ -]Studio)?|iMac|NAS|PC|[Ss]erver|[Ll]aptop|[Cc]omputer|"
    r"[Dd]isk|[Ss]hare|[Rr]outer|Time Capsule|DiskStation|Raspberry Pi|Wi-?Fi|WLAN|[Nn]etwork|[Hh]ome|[Dd]esk"
)
_DATASET = r"\b(?:dataset|destination|filesystem|snapshot|pool)"
_PERSON = r"[A-Z][a-z\u00df-\u00ff][\w-]{0,40}"

# Whatever stands there is a name
PLACES = tuple(
    (kind, re.compile(pattern, re.MULTILINE))
    for kind, pattern in (
        ("user", rf"{_URL}(?:[^@/:;\s]{{1,255}};)?({_LOGIN})(?:;AUTH=[^@/:\s]{{1,80}})?(?::[^@/\s]{{0,255}})?@"),
        ("domain", rf"{_URL}([^@/:;\s]{{1,255}});{_LOGIN}(?::[^@/\s]{{0,255}})?@"),
        ("host", rf"{_URL}(?:[^@/\s]{{1,255}}@)?([^@/:\s\\\"'<>`\[\]]{{1,255}})(?::[0-9]+)?(?:[/\\\"'<>`]|\s|$)"),
        ("share", rf"{_URL}[^/\s]{{1,255}}[/\\]({_NAME})"),
        ("share", rf"{_URL}[^/\s]{{1,255}}/([^/\n]{{1,255}}?)(?= on /)"),
        ("host", rf"{_UNC}({_HOST})(?=\\)"),
        ("share", rf"{_UNC}{_HOST}\\{{1,2}}({_NAME})"),
        ("host", r"^([^\s:/]{1,255}):/.* on /"),
        ("host", r" from ([^\s:/]{1,255}):/"),
        ("host", rf"{_NFS}([A-Za-z][\w.-]{{1,62}}):/(?=\w)"),
        ("path", r"^[^\s:/]{1,255}:/(\S{1,255}) on /"),
        ("path", r" from [^\s:/]{1,255}:/(\S{1,255})"),
        ("path", rf"{_NFS}[A-Za-z][\w.-]{{1,62}}:/(\w[^\s:,;\"'()<>]{{0,255}}[^\s:,;.\"'()<>])"),
        ("host", r" @ (\S{1,255}) \("),
        ("user", r"mounted by ([^),\n]{1,255})"),
        ("share", r"^\s*name:[ \t]+(?!NA,)(\S[^\n]{0,255})$"),
        ("share", r"^(\S[^\n]{0,255}?)[ \t]*\n[ \t]+SERVER_NAME"),
        ("host", r"SERVER_NAME[ \t]+(\S[^\n]{0,255})$"),
        ("host", HOST_AT_HOME),
        ("host", rf"(?:^[#|>*]? ?|[\t\"']|  )(?=\w)((?:[^\t\n\"'=/@:]|(?<=\w)'(?=\w)){{1,63}}?)\._(?:{_SERVICES})\._"),
        ("host", rf"{_GVFS}(?:server|host)=([^,\s\"'/]{{1,255}})"),
        ("share", rf"{_GVFS}(?:share|volume)=([^,\n\"'/]{{1,255}}?)(?=[,\"'/]|\s|$)"),
        ("path", r"/gvfs/[\w-]{1,40}:[^\s/]{1,400}/([^\n:\"'(]{1,255})"),
        ("user", rf"{_GVFS}user=([^,\s\"'/]{{1,255}})"),
        ("domain", rf"{_GVFS}domain=([^,\s\"'/]{{1,255}})"),
        ("user", r"\b(?i:username|user_name)=([^,\s&;\"')]{1,255})"),
        ("user", r"(?<=[\s,&?\"'])(?i:user)=([A-Za-z][^,\s&;\"'):/%]{1,255})"),
        ("user", r"\b(?i:user|username)=[\w.-]{1,64}/([^,\s&;\"'):/%]{1,255})"),
        ("user", r"(?<!\S)--user(?:name)?[ =][\"']?([A-Za-z][\w.-]{1,63})(?![\w./:\\-])"),
        ("user", r"\"(?i:user|user_?name|login|account)\\{0,4}\"[ \t]*:[ \t]*\\{0,4}\"([^\"\\\n]{1,64})"),
        ("domain", r"(?<=[,&?])(?i:domain|dom|workgroup)=([A-Za-z][^,\s&;\"')]{1,255})"),
        ("user", r"(?<!\S)-U[ =]?[\"']?(?:[^\s%\"'\\]{1,64}\\{1,2})?([^\s%\"'\\]{1,64})%"),
        ("user", r"\b(?i:user|username|account)[ :]{1,2}\[(?:[^\]\\\n]{1,64}\\)?([^\]\n\\]{1,64})\]"),
        ("domain", r"\b(?i:domain|workgroup)=\[([^\]\n]{1,64})\]"),
        ("domain", rf"{_DOMAIN}([A-Z][A-Z0-9.-]{{1,62}})\\{{1,2}}(?=[A-Za-z][\w.$-])"),
        ("user", rf"{_DOMAIN}[A-Z][A-Z0-9.-]{{1,62}}\\{{1,2}}([A-Za-z][\w.$-]{{1,63}})"),
        ("domain", rf"{_DOMAIN}([A-Za-z][\w-]{{2,62}})\\(?=[A-Za-mo-qsv-z][\w.-]{{2,63}}(?![\w\\]))"),
        ("user", rf"{_DOMAIN}[A-Za-z][\w-]{{2,62}}\\([A-Za-mo-qsv-z][\w.-]{{2,63}})(?![\w\\])"),
        ("domain", r"(?<=/user:)([^\\\s]{1,64})\\"),
        ("user", r"(?<=/user:)(?:[^\\\s]{1,64}\\{1,2})?([^\\\s]{1,64})"),
        ("user", r"(?i:[a-z]:[\\/]{1,2}Users[\\/]{1,2})([^\\/\n\"'<>|:*?]{1,64}?)(?=[\\/\"'<>|:;,]| [a-z]|\s*$)"),
        ("user", r"(?<![\w~/.])~([a-z_][\w-]{1,31})(?=/)"),
        ("user", r"/(?:run/)?media/([^\s/\"']{1,64})/"),
        ("network", r"\bE?(?i:ssid)[\"']?[ \t]*[:=][ \t]*[\"']?([^\"'\n,;:]{1,32}?)(?=[\"',;]|\s*$)"),
        ("network", r"\b(?i:wi-?fi|wlan)(?i: network)?(?:[ :]+[\"']([^\"'\n]{1,32})[\"']|:[ \t]+([^\n]{1,32})$)"),
        ("volume", r"\badVN=([^,\"\n]{1,64}?)(?=[,\"]|\s|$)"),
        ("host", r"^\s*(?i:computer ?name|host ?name|localhostname|netbios ?name)[:=][ \t]*(\S[^\n:]{0,100})$"),
        ("person", r"^\s*User Name:[ \t]*([^(\n]{1,80}?)[ \t]*(?:\(|$)"),
        ("serial", r"(?i:serial)[ _-]?(?i:number|no)?[\"']?[ \t]*[:=]?[ \t]*[\"']?([A-Z0-9]{6,20})\b"),
        ("serial", r"(?i:serial)[ _-]?(?i:number|no|short)?[\"']?[ \t]*[:=][ \t]*[\"']?([\w.-]{5,40})"),
        ("serial", r"\b(?:WWN Device Id|EUI-64):[ \t]+([0-9a-f][0-9a-f ]{9,22})"),
        ("share", r"^[ \t]*(\S[^\n]{0,79}?)[ \t]{2,}(?:Disk|Printer)(?:[ \t]|$)"),  # smbclient -L
        ("share", r"^[ \t]*\S[^\n]{0,79}?[ \t]{2,}(?:Disk|Printer)[ \t]{2,}(\S[^\n]{0,79})$"),
        ("host", r"\b(?:authenticity of host|[Pp]ermanently added|Host) ['\"]\[?([\w.-]{2,255})"),
        ("host", rf"\b({_HOST}) \(ipv[46]:"),
        ("volume", r"^\s*Volume (\S[^\n]{0,80}?) on disk[0-9]"),
        ("serial", r"^\s*id:[ \t]+([0-9]{15,20})$"),
    )
)  # fmt: skip
# Whatever stands there may be an ordinary word, which is not masked
SAYINGS = tuple(
    (kind, re.compile(pattern, re.MULTILINE))
    for kind, pattern in (
        ("host", HOST_NAME),
        ("user", r"(?<![\w.+/@:-])([A-Za-z_][\w.+-]{0,31})@[A-Za-z][\w-]{1,62}(?![\w@-]|\.\w)"),
        ("host", r"(?<![\w.+/@:-])[A-Za-z_][\w.+-]{0,31}@([A-Za-z][\w-]{1,62})(?![\w@-]|\.\w)"),
        ("user", r"(?<![\w.+/@:-])([A-Za-z_][\w.+-]{0,31})(?::\*\*\*@|@\[?[0-9a-f]{1,4}[.:][0-9a-f.:]{4})"),
        ("user", r"(?<!\S)-u[ \t]*[\"']?([A-Za-z_][\w.+-]{0,31}):\*\*\*"),
        ("host", rf":\*\*\*@({_HOST})"),
        ("host", r"\bhttps?://([A-Za-z][\w-]{1,62})(?=[:/\s]|$)"),
        ("user", rf"(?<![\w.+/@:-])([A-Za-z_][\w.+-]{{0,31}})@{_HOST}(?:'s password|: Permission|:[/~])"),
        ("host", rf"\b(?i:resolve) (?i:hostname|host name|host|server|address for) [\"']?({_HOST})"),
        ("host", rf"\b(?i:connect to) (?i:host |server |address )?({_HOST})(?= port |:| \()"),
        ("host", rf"\b(?i:connection) (?:to|closed by|reset by|refused by) (?:(?:authenticating |invalid )?user \S+ )?"
                 rf"({_HOST})(?= port| closed| timed| refused| failed)"),
        ("host", rf"\b(?i:host key) (?:is known )?(?:for|verification failed for) \[?({_HOST})"),
        ("host", rf"\bgetaddrinfo:? \"?({_HOST})"),
        ("host", rf"\b(?i:mount request (?:from|to)|mount /\S{{1,80}} from|showmount -e) ({_HOST})(?= |$|:)"),
        ("host", r"\b([A-Za-z]\w{0,40}(?:-\w{1,40}){0,4}-"
                 r"(?:MacBook(?:-Pro|-Air)?|Mac-(?:mini|Pro|Studio)|iMac)(?:-[0-9]{1,3})?)\b"),
        ("host", rf"\b(?i:server) ({_HOST})(?= (?:(?:is |has )?not respond|OK$|still trying))"),
        ("host", rf"\b(?:[Cc]onnecting|[Aa]uthenticating|[Aa]uthenticated) to ({_HOST})(?=:[0-9]| \(?\[| port)"),
        ("host", rf"\bssh-keygen\b[^\n]{{0,200}} -R [\"']?({_HOST})"),
        ("share", r"\b(?:failed on|[Uu]nknown) module ['\"]?([\w.$-]{1,64})"),
        ("share", rf"\baccess denied to ([\w.$-]{{1,64}}) from {_HOST} \("),
        ("host", rf"\baccess denied to [\w.$-]{{1,64}} from ({_HOST}) \("),
        ("share", r"\bservice ([\w.$-]{1,64}) (?:initially|failed)"),
        ("user", r"\b(?i:as user|login by|logout by) ([\w.-]{1,64})"),
        ("user", r"\blogin ([\w.-]{1,64})(?= \(uid )"),
        ("share", rf"@{_HOST}::([\w.$-]{{1,64}})"),
        ("user", r"\bAuthenticating to \S+ as '([^'\n]{1,64})'"),
        ("host", rf"\b(?i:address for) ({_HOST})(?=:|\s*$)"),
        ("host", rf"\b({_HOST}): (?:Name or service not known|nodename nor servname|[Uu]nknown host|No address assoc|"
                 r"Temporary failure in name)"),
        ("path", rf"\w@{_HOST}:([\w~][^\s:\"',;]{{0,255}}/[^\s:\"',;]{{1,255}})"),
        ("volume", rf"{_DATASET} ([A-Za-z][\w.-]{{2,60}}(?:/[\w./-]{{1,200}}|(?=@)))"),
        ("volume", rf"{_DATASET} ([A-Za-z][\w.-]{{2,60}}(?:/[\w./-]{{1,200}})?@[\w.:-]{{1,80}}[\w-])"),
        ("volume", rf"{_DATASET} ['\"]([^'\"\n]{{1,255}})['\"]"),
        ("volume", r"\b(?i:volume|share|disk) (?:\"([^\"\n]{1,80})\"|'([^'\n]{1,80})'(?!\w))"),
        ("volume", rf"\b(?i:volume|share|disk) ([A-Z][^\s:;,\"']{{1,80}}{_WORDS})"
                   r"(?= (?:does|is|was|has|could|cannot|not)\b)"),
        ("volume", r"^\s*Volume Name:[ \t]+(?!Not applicable)(\S[^\n]{0,80})$"),
        ("user", r"\b(?i:user) (?:\"([^\"\n]{1,64})\"|'([^'\n]{1,64})'(?!\w))"),
        ("user", r"\b(?i:for user|attempts? (?:for|by)) ([A-Za-z][\w.-]{1,63})"
                 r"(?=\s*$|[:;,.)\]]| (?:on|from|at)\b)"),
        ("user", r"\b(?i:password for) ([^\s:@'\"/\[\]\\]{1,64})(?=[@:'])"),
        ("user", r"\b(?i:invalid|unknown|no such|authenticating|sorry,|unable to find) user:? ['\"\[]?([\w.-]{1,64})"),
        ("user", r"(?<![\w.-])([\w.-]{1,64}) is not in the sudoers"),
        ("user", r"\bid: ['\"\u2018]?([\w.-]{1,64})['\"\u2019]?: no such user"),
        ("volume", r"^[ \t]*pool:[ \t]+(\S{1,255})$"),
        ("volume", r"\bcannot (?:open|import|export|create|destroy|mount|unmount|share|receive|label|online|offline|"
                   r"scrub|attach|detach|replace\w*|add to|remove) '([^'\n]{1,255})'"),
        ("device", r"^[ \t]+(\S{2,255}[^\s:])[ \t]+(?:ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|AVAIL)\b"),
        ("person", rf"\b({_PERSON}(?: {_PERSON})?)['\u2019]s (?:{_MACHINE}|{_PERSON} (?:{_MACHINE}))\b"),
        ("person", rf"\b(?:{_MACHINE}) (?:of|von|de|di|van|by) ({_PERSON}(?: [A-Z][\w.-]{{0,40}}){{0,2}})"),
    )
)  # fmt: skip
ORDINARY = frozenset({
    "a", "address", "admin", "afp", "all", "an", "another", "any", "apple", "backup", "backups", "bugs", "client",
    "clients", "cloud", "computer", "contact", "daemon", "data", "dav", "dbus", "file", "files", "ftp", "ganesha",
    "getty", "git", "guest", "her", "here", "his", "home", "host", "hostname", "hosts", "info", "it", "its", "kernel",
    "lab", "let", "linux", "list", "lists", "local", "mac", "machine", "macos", "macs", "mail", "media", "mysql",
    "name", "nas", "netatalk", "nfs", "no", "nobody", "not", "one", "other", "peer", "pool", "port", "remote", "root",
    "rpool", "samba", "same", "server", "server's", "servers", "share", "shares", "smb", "some", "ssh", "storage",
    "support", "systemd", "tank", "test", "tests", "that", "the", "their", "there", "this", "time", "unix", "user",
    "users", "version", "what", "who", "windows", "www", "your", "zpool", "zroot",
})  # fmt: skip
_PLAIN_DEVICES = re.compile(
    r"(?:mirror|raidz[123]?|draid\S*|spares?|replacing|logs?|cache|special|dedup)(?:-[0-9]+)?|file-share-lab\S*|/dev/\w+|"
    r"(?:sd|vd|hd|xvd)[a-z]+[0-9]*|nvme[0-9]+n[0-9]+(?:p[0-9]+)?|(?:disk|ada|da|md|dm-|loop|nbd|zram)[0-9]+(?:[sp][0-9]+)*"
)


def is_ordinary(name: str) -> bool:
    """Whether a word is no name, or names what every host has, such as a device or a usual account."""
    return name.casefold() in ORDINARY or _PLAIN_DEVICES.fullmatch(name) is not None
