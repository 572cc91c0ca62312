"""The last question: how root commands run, where an account is not root."""

from __future__ import annotations

from lab.base.untrusted import listing
from lab.init.answers import Answers
from lab.init.questions import Choice, Questions

WAYS = {
    "password": "sudo, which asks for the account's password",
    "nopasswd": "sudo, which asks for no password",
    "helper": "sudo for the lab's helper alone, by `lab host install`",
    "none": "not at all: nothing is tuned, and what needs root is left out",
}


def ask_sudo(questions: Questions, answers: Answers, is_administrator: bool) -> str:
    """One of the four ways. It is not asked where every account is root."""
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
    """Why a way cannot be; empty where it can."""
    serves = answers.share.by_lab and answers.server.user != "root"
    if serves and way in ("helper", "none"):
        return f"{way}: the share is to be the lab's, which needs root on the server, and its helper starts none"
    if way == "helper" and "," in answers.share.name + answers.account.name:
        return "helper: it mounts no share with a comma in its name or account"
    return ""
