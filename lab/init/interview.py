"""The questions: two machines, a login, a share, an account, and how root commands run."""

import re
from dataclasses import replace

from lab.base.untrusted import listing
from lab.hosts.fields import absolute, account_name, plain_account, share_name
from lab.init.host_questions import ask_client, ask_login, ask_server, with_own_address
from lab.init.questions import MOST_CHOICES, AccountAnswer, Answers, Choice, HostAnswer, Questions, ShareAnswer
from lab.init.shares import Share
from lab.init.surroundings import Mounted, Surroundings

BY_LAB, MOUNTED = "serve = lab", "mounted = "  # as in a hosts file
GUESSED_FOLDER = "/srv"
KEYRING, VARIABLE = "keyring:file-share-lab", "env:SHARE_PASSWORD"
SOURCE = re.compile(r"(.+?)\s+(prompt|keyring|env|(?:keyring|env|file):\S.*)")
WAYS = {
    "password": "sudo, which asks for the account's password",
    "nopasswd": "sudo, which asks for no password",
    "helper": "sudo for the lab's helper alone, by `lab host install`",
    "none": "not at all: nothing is tuned, and what needs root is left out",
}


def interview(questions: Questions, surroundings: Surroundings) -> Answers:
    """Ask at most six questions. Raises BadInput if the input ends early."""
    client = ask_client(questions, surroundings)
    server = ask_server(questions, surroundings, client)
    client = with_own_address(client, server, surroundings)
    questions.tell("")
    questions.tell(f"looking at what {server.address} serves")
    services = surroundings.open_services(server.address)
    shares = surroundings.list_shares(server.address, services)
    mounts = None if client.host else [mount for mount in surroundings.mounts if mount.address == server.address]
    server = ask_login(questions, surroundings, server, "SSH" in services)
    share = _ask_share(questions, server, services, shares, mounts)
    account = AccountAnswer(server.user or surroundings.account, "prompt")
    if share.protocol != "nfs" and not share.mounted:
        account = _ask_account(questions, account.name, share)
    answers = Answers(client, server, share, account, "none")
    return replace(answers, sudo=_ask_sudo(questions, answers, surroundings.is_administrator))


def _ask_share(
    questions: Questions, server: HostAnswer, services: frozenset[str], shown: list[Share], mounts: list[Mounted] | None
) -> ShareAnswer:
    """Ask for a share that the server shows, or a mounted one; ``mounts`` is None if the client is another machine."""
    has_login = bool(server.host)
    choices = [
        Choice(f"{MOUNTED}{share.path}", f"{share.label}, as it is mounted at {share.path}") for share in mounts or ()
    ]
    for share in shown:
        has_guess = has_login and share.protocol == "smb"
        folder = f", its folder there {GUESSED_FOLDER}/{share.name} (a guess)" if has_guess else ""
        choices.append(Choice(share.name, f"{share.name} ({share.protocol.upper()}{folder})"))
    if has_login:
        choices.append(Choice(BY_LAB, "none: the lab serves a folder by itself for the time of a run, as root"))
    protocols = {share.path: share.protocol for share in mounts or ()}
    protocol = "afp" if "AFP" in services and "SMB" not in services else "smb"

    def parse(text: str) -> ShareAnswer:
        if text == BY_LAB and has_login:
            return ShareAnswer(by_lab=True)
        if text.startswith(MOUNTED) and mounts is not None:
            path = absolute(_in_a_file(text.removeprefix(MOUNTED).strip()))
            return ShareAnswer(protocols.get(path, protocol), mounted=path)
        return _parse_share(text, protocol, has_login)

    typed = f"NAME (SMB, AFP) or /PATH (NFS){', then the folder on the server' if has_login else ''}"
    unseen = "" if shown or mounts else ", which shows none unasked"
    title = f"Which share of {server.name}{unseen}?"
    return questions.ask(title, choices[:MOST_CHOICES], typed, parse, numbers_are_names=True)


def _parse_share(text: str, protocol: str, has_login: bool) -> ShareAnswer:
    """Parse ``NAME [FOLDER]`` or an NFS path. Raises ValueError."""
    if text.startswith("/"):
        return ShareAnswer("nfs", path=absolute(_in_a_file(text)))
    match = re.fullmatch(r"(.+?)\s+([/~].*)", text)
    name, folder = match.groups() if match else (text, "")
    if folder and not has_login:
        raise ValueError(f"{folder}: the folder on the server is only for who can log in there")
    name = share_name(_in_a_file(name))
    path = absolute(_in_a_file(folder)) if folder else f"{GUESSED_FOLDER}/{name}" if has_login else ""
    return ShareAnswer(protocol, name, path, guessed=has_login and not folder)


def _ask_account(questions: Questions, account: str, share: ShareAnswer) -> AccountAnswer:
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
        return AccountAnswer(check(_in_a_file(name)), _in_a_file(source))

    typed = "another account, then keyring, env or file:PATH; never a password"
    of_whom = "for the lab's share: one that the server has" if share.by_lab else "of the share"
    return questions.ask(f"Which account {of_whom}, and where is its password?", choices, typed, parse)


def _in_a_file(text: str) -> str:
    """The text, if a hosts file can hold it. Raises ValueError."""
    if re.search(r"(?:^|\s)[#;]", text):
        raise ValueError("has a # or ; at its beginning or after a space, where a comment begins in a hosts file")
    return text


def _ask_sudo(questions: Questions, answers: Answers, is_administrator: bool) -> str:
    """Ask which of WAYS root commands take. Not asked if every account is root."""
    hosts = [host for host in (answers.client, answers.server) if host.user != "root"]
    names = [host.name for host in hosts if host.host or host is answers.client]
    if not names:
        return "none"
    alone = not (answers.client.host or answers.server.host)
    default = "none" if alone and not is_administrator else "password"
    ways = [default, *(way for way in WAYS if way != default)]

    def parse(text: str) -> str:
        if text not in WAYS:
            raise ValueError(f"it is one of {', '.join(WAYS)}")
        if problem := _problem(answers, text):
            raise ValueError(problem)
        return text

    choices = [Choice(way, f"{way}: {WAYS[way]}") for way in ways]
    title = f"How do root commands (MTU, sysctl, mount) run on {listing(names)}?"
    return questions.ask(title, choices, "one of these words", parse)


def _problem(answers: Answers, way: str) -> str:
    """Why a way is impossible; empty if it is possible."""
    serves = answers.share.by_lab and answers.server.user != "root"
    if serves and way in ("helper", "none"):
        return f"{way}: the share is to be the lab's, which needs root on the server, and its helper starts none"
    if way == "helper" and "," in answers.share.name + answers.account.name:
        return "helper: it mounts no share with a comma in its name or account"
    return ""
