"""A session as one of several clients has it: the same share and settings, and another client."""

from typing import TypeAlias

from lab.design.case import Case
from lab.hosts import Role
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.case.setup import Setup


class ClientSession:
    """What preparing, cooling and checking need of a :class:`Session`, of the client of ``pair``."""

    def __init__(self, session: Session, pair: Pair):
        self.session, self.pair, self.payload = session, pair, session.payload
        self.tool_versions: dict[tuple[Role, str], str] = {}

    @property
    def name(self) -> str:
        """That of the client."""
        return self.pair.hosts[Role.CLIENT].name

    def setup_of(self, case: Case) -> Setup:
        """What stands for a case."""
        return self.session.setup_of(case, self.pair)

    def set_up(self, case: Case) -> Setup:
        """See :meth:`Session.set_up`: on all clients."""
        self.session.set_up(case)
        return self.setup_of(case)

    def mount_anew(self, setup: Setup, always: bool = False) -> bool:
        """See :meth:`Session.mount_anew`: on this client."""
        return self.session.mount_anew(setup, always)


AnySession: TypeAlias = Session | ClientSession
