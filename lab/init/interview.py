"""The questions: two machines, a login, a share, an account, and how root commands run."""

from dataclasses import replace

from lab.base.untrusted import listing
from lab.init.answers import AccountAnswer, Answers
from lab.init.host_questions import ask_client, ask_login, ask_server, with_own_address
from lab.init.questions import Choice, Questions
from lab.init.share_questions import Shares, ask_account, ask_share
from lab.init.surroundings import Surroundings

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
    mounts = [] if client.host else [mount for mount in surroundings.mounts if mount.address == server.address]
    server = ask_login(questions, surroundings, server, "SSH" in services)
    share = ask_share(questions, server, services, Shares(shares, mounts, may_be_mounted=not client.host))
    account = AccountAnswer(server.user or surroundings.account, "prompt")
    if share.protocol != "nfs" and not share.mounted:
        account = ask_account(questions, account.name, share)
    answers = Answers(client, server, share, account, "none")
    return replace(answers, sudo=_ask_sudo(questions, answers, surroundings.is_administrator))


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
