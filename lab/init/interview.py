"""The questions: two machines, a login, a share, an account, and how root commands run."""

from __future__ import annotations

from dataclasses import replace

from lab.init.answers import AccountAnswer, Answers
from lab.init.host_questions import ask_client, ask_login, ask_server, with_own_address
from lab.init.questions import Questions
from lab.init.root_question import ask_sudo
from lab.init.share_questions import Shares, ask_account, ask_share
from lab.init.surroundings import Surroundings


def interview(questions: Questions, surroundings: Surroundings) -> Answers:
    """Ask at most six questions. Raises BadInput where the input ends."""
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
    return replace(answers, sudo=ask_sudo(questions, answers, surroundings.is_administrator))
