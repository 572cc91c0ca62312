"""The questions about the share: which one, by whose account."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lab.hosts.fields import absolute, account_name, plain_account, share_name
from lab.init.answers import AccountAnswer, HostAnswer, ShareAnswer
from lab.init.questions import Choice, Questions
from lab.init.shares import Share
from lab.init.surroundings import Mounted

BY_LAB, MOUNTED = "serve = lab", "mounted = "  # as in a hosts file
GUESSED_FOLDER = "/srv"
KEYRING, VARIABLE = "keyring:file-share-lab", "env:SHARE_PASSWORD"
SOURCE = re.compile(r"(.+?)\s+(prompt|keyring|env|(?:keyring|env|file):\S.*)")


@dataclass(frozen=True)
class Shares:
    """The shares that a server shows, those that are mounted here, and whether any could be mounted here."""

    shown: Sequence[Share]
    mounted: Sequence[Mounted]
    may_be_mounted: bool


def ask_share(questions: Questions, server: HostAnswer, services: frozenset[str], shares: Shares) -> ShareAnswer:
    """Ask for the share; ``services`` are those that answer at the server."""
    has_login = bool(server.host)
    choices = [
        Choice(f"{MOUNTED}{share.path}", f"{share.label}, as it is mounted at {share.path}") for share in shares.mounted
    ]
    for share in shares.shown:
        has_guess = has_login and share.protocol == "smb"
        folder = f", its folder there {GUESSED_FOLDER}/{share.name} (a guess)" if has_guess else ""
        choices.append(Choice(share.name, f"{share.name} ({share.protocol.upper()}{folder})"))
    if has_login:
        choices.append(Choice(BY_LAB, "none: the lab serves a folder by itself for the time of a run, as root"))
    protocols = {share.path: share.protocol for share in shares.mounted}
    protocol = "afp" if "AFP" in services and "SMB" not in services else "smb"

    def parse(text: str) -> ShareAnswer:
        if text == BY_LAB and has_login:
            return ShareAnswer(by_lab=True)
        if text.startswith(MOUNTED) and shares.may_be_mounted:
            path = absolute(in_a_file(text.removeprefix(MOUNTED).strip()))
            return ShareAnswer(protocols.get(path, protocol), mounted=path)
        return _parse_share(text, protocol, has_login)

    typed = f"NAME (SMB, AFP) or /PATH (NFS){', then the folder on the server' if has_login else ''}"
    unseen = "" if shares.shown or shares.mounted else ", which shows none unasked"
    return questions.ask(f"Which share of {server.name}{unseen}?", choices, typed, parse)


def _parse_share(text: str, protocol: str, has_login: bool) -> ShareAnswer:
    """Parse ``NAME [FOLDER]`` or an NFS path. Raises ValueError."""
    if text.startswith("/"):
        return ShareAnswer("nfs", path=absolute(in_a_file(text)))
    match = re.fullmatch(r"(.+?)\s+([/~].*)", text)
    name, folder = match.groups() if match else (text, "")
    if folder and not has_login:
        raise ValueError(f"{folder}: the folder on the server is only for who can log in there")
    name = share_name(in_a_file(name))
    path = absolute(in_a_file(folder)) if folder else f"{GUESSED_FOLDER}/{name}" if has_login else ""
    return ShareAnswer(protocol, name, path, guessed=has_login and not folder)


def ask_account(questions: Questions, account: str, share: ShareAnswer) -> AccountAnswer:
    """Ask for the account of the share and the source of its password, never for the password."""
    choices = [
        Choice(f"{account} prompt", f"{account}, whose password is asked for when it is needed"),
        Choice(f"{account} {KEYRING}", f"{account}, whose password this machine's keyring has ({KEYRING})"),
        Choice(f"{account} {VARIABLE}", f"{account}, whose password is in an environment variable ({VARIABLE})"),
    ]

    def parse(text: str) -> AccountAnswer:
        match = SOURCE.fullmatch(text)
        name, source = match.groups() if match else (text, "prompt")
        source = {"keyring": KEYRING, "env": VARIABLE}.get(source, source)
        check = plain_account if share.by_lab else account_name
        return AccountAnswer(check(in_a_file(name)), in_a_file(source))

    typed = "another account, then keyring, env or file:PATH; never a password"
    of_whom = "for the lab's share: one that the server has" if share.by_lab else "of the share"
    return questions.ask(f"Which account {of_whom}, and where is its password?", choices, typed, parse)


def in_a_file(text: str) -> str:
    """The text, if a hosts file can hold it. Raises ValueError."""
    if re.search(r"(?:^|\s)[#;]", text):
        raise ValueError("has a # or ; at its beginning or after a space, where a comment begins in a hosts file")
    return text
