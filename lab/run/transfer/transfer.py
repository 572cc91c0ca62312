"""One timed transfer, by one client or several, over what stands for its case."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab.base.errors import CommandError, LabFailure, RestoreError, TransferError
from lab.design.case import Case
from lab.hosts import Role
from lab.run.case.session import Session
from lab.run.transfer import one_client, several_clients
from lab.run.transfer.result import TransferResult
from lab.run.transfer.several_clients import SomeFailed
from lab.run.transfer.store_moved import raise_fault


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
    """Move one payload under the client's clock, which ends it after ``deadline_s`` seconds; with several clients, one
    payload each at the same time.

    It begins anew where its mount was gone in the middle. Raises LabFailure where it fails or a byte is wrong.
    """
    with _naming_what_ended(session):
        while True:
            setup = session.set_up(case)
            try:
                if case.clients > 1:
                    return several_clients.move(session, case, trial_id, deadline_s)
                return one_client.move(session, setup, case, trial_id, deadline_s)
            except RestoreError:
                raise
            except LabFailure as error:
                # a command that failed prepares or checks it
                may_be_mount = isinstance(error, TransferError | CommandError)
                may_be_mount = may_be_mount and session.settings.find_ended(Role.SERVER) is None
                if not (may_be_mount and session.drop_lost_mount(case, error)):
                    raise_fault(session.pair, setup.store, error)
                    raise


@contextmanager
def _naming_what_ended(session: Session) -> Iterator[None]:
    """Name the process of the lab's that ended meanwhile, in the error that came of it."""
    try:
        yield
    except RestoreError:
        raise
    except LabFailure as error:
        ended = session.settings.find_ended()
        if ended is None:
            raise
        cause = error.message if isinstance(error, TransferError) else error.cause()
        told = TransferError(f"{ended.name} ended during the transfer; {cause}", error.remedy, host=ended.host)
        raise (SomeFailed(told, error.together) if isinstance(error, SomeFailed) else told) from error
