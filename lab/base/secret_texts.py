"""Passwords in texts of hosts: programs repeat what they were given. MASK replaces each; words about passwords stay."""

import functools
import json
import re
from typing import Any

MASK = "***"
# Announces a password, also at the end of a name such as `sudo_password` or `X-Auth-Token`
_SPOKEN = r"(?:password|passwd|passwort|kennwort|passphrase|passcode)"
_KEY = (
    rf"(?:[\w.-]{{0,64}}(?:(?<!no){_SPOKEN}|secret|token|api[_-]?key)"
    r"|(?:-{1,2}|[\w.-]{0,64}[_.])?(?:pw|pwd|pass)|\w{0,64}(?<!by)(?<!com)(?<!tres)pass)"
)
_START = r"(?<![\w.-])"
_ESCAPED = r"\\{0,4}"  # before a quotation mark: JSON in JSON
_QUOTED = r"\\{0,4}\"(?:[^\"\\\n]|\\+[^\"\n])*+\\{0,4}\"|\\{0,4}'(?:[^'\\\n]|\\+[^'\n])*+\\{0,4}'"
_FLAGS = "ro|rw|guest|soft|hard|sync|async|nosuid|nodev|noexec|noatime|nobrl|noperm|nounix|seal|sign|mfsymlinks"
# The end of an unquoted password: the next option, the next part of a query, or punctuation
_END = rf"[,;&](?:[ \t]|(?:{_FLAGS})\b|[A-Za-z][\w.-]{{0,40}}=)|[\"'>)\]}}.,:;&]*(?:\s|$)"
_PLAIN = rf"(?![`,.;:)\]}}])(?:(?!{_END})\S){{1,255}}"
# What stands in a hosts file instead of a password; PWD=/folder is no password either
_SOURCE = r"(?:env:|file:|keyring:|prompt\b|(?<=[pP][wW][dD]=)/|\\{0,4}[\"']?\*\*\*)"
# Words about a password in the place of one
_SAID = (
    r"(?:is|was|has|had|are|not|no|none|and|or|of|to|for|from|in|by|with|without|the|a|an|too|must|may|will|can|cannot|"
    r"missing|wrong|incorrect|invalid|required|needed|expired|changed|denied|refused|rejected|failed|failure|error|"
    r"unknown|unset|set|empty|blank|given|ok|yes|true|false|null|sorry|enter|retype|files|compat|expected|string|"
    r"authentication|permission|option|options|mismatch|unexpected|asked|hidden|redacted)\b"
)
_SENTENCE = r"[A-Za-z]+[,.;]?[ \t]+[A-Za-z(\[]"
_FORMS = (  # the groups `before` and `after` stay
    r"(?P<before>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)"
    r"[\s\S]*?(?P<after>-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    # URLs, and what programs that mount make of them: up to the last @ of the word, for a password may hold one
    r"(?P<before>(?:/|\bafp:/at)/[^\s:@/\"'<>]{0,255}:)(?!\*\*\*@|-@|password[\]>])"
    r"(?:[^\s\"'<>]{1,255}(?=@)|\S{1,255}(?=@)|[^\n@/:\"<>]{1,80}(?=@[\w.-]{1,255}[/:]))",
    # ann:…@nas: without a scheme the host has to look like one
    r"(?P<before>(?<![\w.@:/+-])(?!(?:mailto|user|from|to):)[A-Za-z_][\w.;\\-]{0,63}:)(?!/|\*\*\*@)"
    r"(?:[^\s/\"'<>,]{1,255}(?=@(?:[A-Za-z\[]|(?:[0-9]{1,3}\.){3})[\w.-]*+(?:[\s:/\"',)\]]|$))"
    r"|[^\s@\"'<>,]{1,255}(?=@[A-Za-z][\w.-]*+[:/]))",
    rf"(?P<before>{_START}(?:Proxy-)?Authorization{_ESCAPED}[\"']?[ \t]*[:=][ \t]*{_ESCAPED}[\"']?"
    r"(?:(?:Basic|Bearer|Digest|Negotiate|NTLM|Token)[ \t]+)?)[^\s\"'\\][^\n\"'\\]{0,4000}",
    rf"(?P<before>{_START}(?:Set-)?Cookie:[ \t]*)\S[^\n]{{0,4000}}",
    rf"(?P<before>{_START}Bearer[ \t]+)[\w.~+/=-]{{16,4000}}",
    rf"{_START}eyJ[\w-]{{8,4000}}\.[\w-]{{8,4000}}\.[\w-]{{0,4000}}",  # a token of RFC 7519
    rf"(?P<before>{_START}{_KEY}{_ESCAPED}[\"']?[ \t]*=[>=]?+[ \t]*)(?!{_SOURCE})(?:{_QUOTED}|{_PLAIN})",
    rf"(?P<before>{_START}{_KEY}{_ESCAPED}[\"']?[ \t]*:[ \t]*)(?:{_QUOTED})",
    rf"(?P<before>{_START}{_KEY}(?:[ \t]+for[ \t]+[^\n:]{{1,100}})?[\"']?:[ \t]*)"
    rf"(?!{_SOURCE}|{_SAID}|{_SENTENCE}){_PLAIN}",
    rf"(?P<before>{_START}{_SPOKEN}[ \t]+(?:(?:is|was)[ \t]+)?)"
    rf"(?:{_QUOTED}|(?!sha|md5|ntlm|0x)(?=\S{{6}})(?=[^\s0-9]{{0,60}}[0-9])(?=[^\sA-Za-z]{{0,60}}[A-Za-z]){_PLAIN})",
    rf"(?P<before><{_KEY}>)[^<\n]{{1,255}}(?P<after></)",
    rf"(?P<before><key>{_KEY}</key>\s{{0,80}}<string>)[^<\n]{{1,255}}(?P<after></)",
    # words of commands
    rf"(?P<before>(?<!\S)--?{_KEY}[\"']?,?[ \t]+)(?!-|{_SOURCE}|{_SAID})(?:{_QUOTED}|{_PLAIN})",
    r"(?P<before>\bsshpass[ \t]+-p[ \t]*)(?:'[^'\n]*'|\"[^\"\n]*\"|\S{1,255})",
    r"(?P<before>(?<!\S)(?:-U[ \t=]*|--user(?:name)?[ \t=]+|[\w,\"'=]*\buser(?:name)?=)[\"']?[\w./;\\@-]{1,255}%)"
    r"[^\s\"']{1,255}",
    r"(?P<before>(?<!\S)/user:\S{1,200}[ \t]+)[^\s/][^\s]{0,255}",
    r"(?P<before>\becho[ \t]+)(?:'[^'\n]*'|\"[^\"\n]*\"|\S{1,255})(?P<after>[ \t]*\|[ \t]*sudo\b)",
    r"(?P<before>\bcurl\b[^\n]{0,400}?[ \t]-(?:u|-user)[ \t]*[\"']?[^\s:\"']{1,255}:)[^\s\"']{1,255}",
    # files of passwords: crypt(5), smbpasswd(5)
    r"(?<![\w$])\$(?:[0-9][a-z]?|y|2[aby]|sha1|gy|7)\$[^\s:,\"']{8,400}",
    r"(?<=:)[0-9A-F]{32}(?=:)",
)  # fmt: skip
# A text without any of these, in lower case, holds no password
_SIGNS = (
    "pass", "kennwort", "secret", "token", "apikey", "api-key", "api_key", "pw", "@", "authorization", "cookie",
    "bearer", "private key", "eyj", "%", "$", "curl", "sudo", "/user:",
)  # fmt: skip
_OF_SMBPASSWD = re.compile(r":[0-9a-f]{32}:", re.IGNORECASE)
_IS_KEY = re.compile(_KEY, re.IGNORECASE)
_MARK = re.compile(r"\\*[\"']")


def without_secrets(text: str) -> str:
    """The text with MASK for each password in it."""
    return _without(text) if _has_sign(text) else text


@functools.cache
def _forms() -> list[re.Pattern[str]]:
    """The patterns, compiled for the first text that may hold a password: that takes 30 ms."""
    return [re.compile(form, re.IGNORECASE | re.MULTILINE) for form in _FORMS]


@functools.lru_cache(512)  # most texts of a run are repeated
def _without(text: str) -> str:
    for form in _forms():
        text = form.sub(_masked, text)
    return text


def all_without_secrets(value: Any) -> Any:
    """A JSON value with MASK for each password in its texts, and for the text at a key such as ``password``."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, list):
        return list(map(all_without_secrets, value))
    if isinstance(value, dict):
        return {without_secrets(key): _at(key, part) for key, part in value.items()}
    return value


def json_without_secrets(text: str) -> str:
    """JSON text with MASK for each password. Raises ValueError for invalid JSON that may hold one."""
    return json.dumps(all_without_secrets(json.loads(text))) if may_hold_secrets(text) else text


def may_hold_secrets(text: str) -> bool:
    """Whether JSON text may hold a password, as a quick check; any letter may be escaped."""
    return "\\u" in text or _has_sign(text)


def _has_sign(text: str) -> bool:
    lowered = text.lower()
    return any(sign in lowered for sign in _SIGNS) or _OF_SMBPASSWD.search(text) is not None


def _at(key: str, part: Any) -> Any:
    return MASK if isinstance(part, str) and part and _IS_KEY.fullmatch(key) else all_without_secrets(part)


def _masked(match: re.Match[str]) -> str:
    """The match with MASK for the password; the quotation marks stay."""
    around = {"before": "", "after": "", **match.groupdict("")}
    secret = match[0][len(around["before"]) :]
    mark = quoted[0] if (quoted := _MARK.match(secret)) and secret.endswith(quoted[0]) else ""
    return f"{around['before']}{mark}{MASK}{mark}{around['after']}"
