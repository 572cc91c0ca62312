"""This machine itself as a host: commands are processes of its own, and no SSH is spoken."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from lab.base.os_errors import explain
from lab.hosts.connection import Connection, Conversation, ProcessConversation
from lab.hosts.host_config import HostConfig

# In front of each command. Scripts recognise the lab as the parent of this shell, as they recognise an SSH server
# elsewhere (ssh_session.sh, end_orphans.sh). Something follows the command, so that the shell stays.
MARK = ": file-share-lab-local-{pid}; "
SHELL = "/bin/sh"


def connect(role: str, config: HostConfig) -> LocalConnection:
    """A connection to this machine, the same for every role and section."""
    return LocalConnection()


class LocalConnection(Connection):
    """Runs commands as the account that runs the lab."""

    @property
    def is_active(self) -> bool:
        return True

    @property
    def ending(self) -> str:
        return ""

    def begin(self, line: str, given: str, deadline: float, goes_on: bool = False) -> Conversation:
        try:
            return LocalConversation(line, given, goes_on)
        except OSError as error:  # no process can be started here
            raise ConnectionError(explain(error)) from error

    def close(self) -> None:
        pass


class LocalConversation(ProcessConversation):
    """A command on this machine."""

    def __init__(self, line: str, given: str, goes_on: bool = False):
        words = [SHELL, "-c", f"{MARK.format(pid=os.getpid())}{line}; exit $?"]
        super().__init__(words, given, goes_on, folder="/")

    @property
    def exit_code(self) -> int | None:
        code = self._process.returncode
        return code if code is None or code >= 0 else 128 - code

    def close(self) -> None:
        self.end_input()
        if self._process.returncode is None:  # else another group may have its number by now
            with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group of zombies
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
