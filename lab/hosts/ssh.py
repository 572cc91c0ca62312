"""A host over SSH, or this machine: one connection, kept for the run; what all transports share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager

from lab.base import signals
from lab.base.errors import BadInput, DeadlineExceeded, HostError, HostLost
from lab.base.os_errors import reason_of
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import local, openssh, paramiko, passwords
from lab.hosts.connection import Connection, Conversation
from lab.hosts.dialogue import Dialogue
from lab.hosts.host import STOPPED, Host, Result
from lab.hosts.host_config import HostConfig
from lab.hosts.login_shell import script_line
from lab.hosts.processes import END_COMMAND

KILL_DEADLINE_S = 10.0
PID_DEADLINE_S = 10.0
# The pid on standard error is there so that a command that takes too long can be ended. The login shell may be any
# shell (login_shell.py), and may say things first; all else runs in /bin/sh with a locale whose messages can be parsed.
# It is not replaced by the command (exec): a command that a signal ends has an exit code (128 + signal) only in a
# shell. A command's own 255 is said, because ssh exits so too where the connection breaks. What a command leaves of its
# standard input is read to the end: were the channel closed before that, paramiko could send the end of the input on a
# channel that sshd no longer knows, and sshd would close the connection.
SAY_PID = 'echo "file-share-lab:$$" >&2; '
WRAPPER = (
    "PATH=$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin:/opt/local/bin; "
    'LC_ALL=C; LANG=C; export PATH LC_ALL LANG; ulimit -c 0; "$@"; '
    "code=$?; while read -r rest; do :; done; [ $code -ne 255 ] || echo file-share-lab:exit-255 >&2; exit $code"
)
CONNECT: Mapping[str, Callable[[str, HostConfig], Connection]] = {
    "paramiko": paramiko.connect,
    "openssh": openssh.connect,
    "local": local.connect,
}
CHECK = {"paramiko": paramiko.check, "openssh": openssh.check}
# sudo before 1.7.1 (Mac OS X 10.6) takes no -k with a command. Where it remembers a password it does not read ours, and
# the command would: what is meant for sudo ends with a line that sudo does not get.
END_OF_PASSWORD = "file-share-lab:end-of-password"  # noqa: S105 – a mark after one
AFTER_PASSWORD = f'while read -r line && [ "$line" != {END_OF_PASSWORD} ]; do :; done; exec "$@"'
HELPER = "/usr/lib/file-share-lab/root-helper"  # not in /usr/local, which a group may write into
# By `uname -s`. On a Mac /usr is sealed, and /usr/local may be Homebrew's, which is an account's
HELPERS = {"Linux": HELPER, "Darwin": "/Library/PrivilegedHelperTools/file-share-lab/root-helper"}
SUDO = {
    "none": [],
    "nopasswd": ["sudo", "-n", "--"],
    "password": ["sudo", "-S", "-p", "", "-k", "--"],
    "helper": ["sudo", "-n", "--"],
    "password, remembered": ["sudo", "-S", "-p", "", "--", "/bin/sh", "-c", AFTER_PASSWORD, "sh"],
}
WHICH_SUDO = read_script(__file__, "which_sudo.sh")
HELPER_HINT = "`lab host install {role}`, or give another sudo in the hosts file (docs/how-to/give-a-narrow-sudo.md)"
SUDO_HINT = (
    "give sudo = password in the hosts file, or a NOPASSWD line for this user (docs/how-to/measure-two-machines.md)"
)


def check(role: str, config: HostConfig) -> None:
    """Raise BadInput for what keeps a host from being reached, as far as that needs no connection."""
    if config.transport in CHECK:
        CHECK[config.transport](role, config)
    if config.sudo == "password":
        passwords.check(config.sudo_password, f"the {role} (sudo)", f"{config.place}[{role}] sudo_password")


class SshHost(Host):
    """A host reached by the transport of its section. Connects at once; raises HostError with what to do."""

    def __init__(self, name: str, config: HostConfig):
        super().__init__(name)
        self.config = config
        self.sudo: str = config.sudo
        self.is_narrow, self.needs_no_sudo = config.sudo == "helper", config.sudo == "none"
        self._password = (
            passwords.resolve(
                config.sudo_password,
                f"{config.login if config.user or not config.host else f'you@{config.host}'} (sudo)",
                f"{config.place}[{name}] sudo_password",
            )
            if config.sudo == "password"
            else None
        )
        self.connection = CONNECT[config.transport](name, config)
        self.helper = HELPERS.get(self.run("uname", "-s").stdout.strip(), HELPER) if self.is_narrow else ""
        if config.sudo == "password":
            # where sudo asks for no password, it would leave that on standard input, for the command to read
            self.sudo = self.shell(WHICH_SUDO).stdout.splitlines()[-1]

    def as_root(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """See :meth:`Host.as_root`. The helper sets its own environment."""
        if not SUDO[self.sudo]:
            return argv
        return (*SUDO[self.sudo], *([self.helper] if self.is_narrow else ("/usr/bin/env", "LC_ALL=C")), *argv)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """See :meth:`Host.reconnect`. The way there and its key are checked as at first."""
        with closing(self.connection):  # of before
            try:
                self.connection = CONNECT[self.config.transport](self.name, self.config)
            except BadInput as error:  # a file that was well at first
                raise HostError(error.message, error.remedy) from error
            take_over()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        started = time.monotonic()
        conversation: Conversation | None = None
        try:
            # a command that was sent and is not known of could neither be ended nor waited for
            with signals.deferred():
                conversation = self._begin(argv, root, given, deadline_s)
            finished = conversation.wait(started + deadline_s, stop_mark)
        except BaseException:
            if conversation is not None:
                self._end(conversation, root)
            raise
        if not finished:
            self._end(conversation, root)
            if stop_mark and stop_mark in conversation.stdout:
                return Result(argv, STOPPED, conversation.stdout, conversation.errors, time.monotonic() - started)
            raise DeadlineExceeded(self.name, argv, deadline_s, conversation.stdout + conversation.errors)
        if conversation.exit_code is None:
            raise self._lost(self.connection.ending, f" during {argv[0]}")
        elapsed_s = time.monotonic() - started
        return Result(argv, conversation.exit_code, conversation.stdout, conversation.errors, elapsed_s)

    @contextmanager
    def converse(self, *argv: str, deadline_s: float) -> Iterator[Dialogue]:
        """See :meth:`Host.converse`."""
        began = time.monotonic()
        with signals.deferred():
            conversation = self._begin(argv, root=False, given="", deadline_s=deadline_s, goes_on=True)
        dialogue = Dialogue(
            self.name, argv, conversation, began, deadline_s,
            lambda why: self._lost(self.connection.ending or why, f" during {argv[0]}"),
        )  # fmt: skip
        try:
            yield dialogue
        finally:
            if dialogue.exit_code is None:
                self._end(conversation, root=False)
            ending = "ended" if dialogue.exit_code is None else f"exit={dialogue.exit_code}"
            self.log.write(self.name, argv, False, ending, time.monotonic() - began)

    def _begin(
        self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, goes_on: bool = False
    ) -> Conversation:
        """Send a command to the host. Raises HostLost where that is out of reach."""
        deadline = time.monotonic() + deadline_s
        words = self.as_root(argv) if root else argv
        if root and self.sudo.startswith("password") and self._password is not None:
            end = "" if self.sudo == "password" else f"{END_OF_PASSWORD}\n"
            given = f"{self._password.get_secret_value()}\n{end}{given}"
        try:
            return self.connection.begin(script_line(SAY_PID, WRAPPER, words), given, deadline, goes_on)
        except TimeoutError as error:
            raise DeadlineExceeded(self.name, argv, deadline_s, "") from error
        except ConnectionError as error:
            raise self._lost(self.connection.ending or reason_of(error)) from error

    def _lost(self, reason: str, moment: str = "") -> HostLost:
        last_line = first_line(reason.strip().rpartition("\n")[2])  # what ends a connection is what a proxy says last
        why = f": {last_line}" if last_line else ""
        return HostLost(
            f"the connection to {self.config.host or self.config.login} was lost{moment}{why}", host=self.name
        )

    def _end(self, conversation: Conversation, root: bool) -> None:
        """End a command that is still running, with its children: sshd gives each command a session of its own.

        Its leader is the login shell, which may have become the command or may be waiting for it.
        """
        pid = conversation.wait_for_pid(PID_DEADLINE_S)
        conversation.close()
        if pid is None or not self.connection.is_active:
            return
        try:
            # what the helper runs ends with whoever called it
            as_root = root and not self.is_narrow
            self._execute(("/bin/sh", "-c", END_COMMAND, "sh", pid), as_root, "", KILL_DEADLINE_S)
        except HostError:
            return  # what brought us here is the error to report

    def _hint(self, result: Result) -> str:
        if self.is_narrow and ("sudo:" in result.stderr or "file-share-lab: refused" in result.stderr):
            return HELPER_HINT.format(role=self.name)
        if "sudo:" in result.stderr and ("password" in result.stderr or "terminal" in result.stderr):
            return SUDO_HINT
        return ""
