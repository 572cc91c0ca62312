"""A host over SSH, or this machine: one connection, kept for the run, over any transport.

Each command is one line that sh, bash, zsh, ksh, tcsh, csh and fish all read alike. In csh and tcsh a quoted text ends
at a line end, ``!`` means history even there, and a word has at most 1000 bytes. fish reads backslashes in a quoted
text. So anything but plain text is sent as octal numbers in short words, and /bin/sh decodes them.
"""

import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager

from pydantic import SecretStr

from lab.base import signals
from lab.base.errors import BadInput, DeadlineExceeded, HostError, HostLost
from lab.base.os_errors import reason_of
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import local, openssh, paramiko, passwords
from lab.hosts.connection import Connection, Conversation
from lab.hosts.host import STOPPED, CommandLog, Dialogue, Host, Result
from lab.hosts.host_config import HostConfig
from lab.hosts.hosts_file import Hosts
from lab.hosts.processes import END_COMMAND

KILL_DEADLINE_S = 10.0
PID_DEADLINE_S = 10.0
# The pid on standard error allows to end a command that takes too long. The login shell may be any shell
# and may print something first; the rest runs in /bin/sh with a locale whose messages can be parsed.
# There is no exec: only a shell gives an exit code (128 + signal) to a command that a signal ends. A command's own exit
# code of 255 is printed, because ssh exits with 255 when the connection breaks. The rest of standard input is read:
# otherwise paramiko could send the end of input on a closed channel, and sshd would close the connection.
SAY_PID = 'echo "file-share-lab:$$" >&2; '
WRAPPER = (
    "PATH=$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin:/opt/local/bin:/opt/bin; "
    'LC_ALL=C; LANG=C; export PATH LC_ALL LANG; ulimit -c 0; "$@"; '
    "code=$?; while read -r rest; do :; done; [ $code -ne 255 ] || echo file-share-lab:exit-255 >&2; exit $code"
)
CONNECT: Mapping[str, Callable[[str, HostConfig], Connection]] = {
    "paramiko": paramiko.connect, "openssh": openssh.connect, "local": local.connect,
}  # fmt: skip
CHECK = {"paramiko": paramiko.check, "openssh": openssh.check}
# sudo before 1.7.1 (Mac OS X 10.6) takes no -k with a command. If it remembers a password, it does not read ours: the
# script skips lines up to a mark after the password, so that the command does not get it.
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
    """Raise BadInput for wrong settings, as far as they show without a connection."""
    if config.transport in CHECK:
        CHECK[config.transport](role, config)
    if config.sudo == "password":
        passwords.check(config.sudo_password, f"the {role} (sudo)", f"{config.place}[{role}] sudo_password")


class SshHost(Host):
    """A host reached by the transport of its section. Connects at once; raises HostError with a remedy."""

    def __init__(self, name: str, config: HostConfig):
        super().__init__(name)
        self.config = config
        self.sudo: str = config.sudo
        self.is_narrow, self.needs_no_sudo = config.sudo == "helper", config.sudo == "none"
        self.is_here = config.transport == "local"
        self._password: SecretStr | None = None
        if config.sudo == "password":
            account = config.login if config.user or not config.host else f"you@{config.host}"
            key = f"{config.place}[{name}] sudo_password"
            self._password = passwords.resolve(config.sudo_password, f"{account} (sudo)", key)
        self.connection = CONNECT[config.transport](name, config)
        self.helper = HELPERS.get(self.run("uname", "-s").stdout.strip(), HELPER) if self.is_narrow else ""
        if config.sudo == "password":
            # a sudo that asks for no password would leave it on standard input for the command
            self.sudo = self.shell(WHICH_SUDO).stdout.splitlines()[-1]

    def as_root(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The helper sets its own environment."""
        if not SUDO[self.sudo]:
            return argv
        return (*SUDO[self.sudo], *([self.helper] if self.is_narrow else ("/usr/bin/env", "LC_ALL=C")), *argv)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """Address and host key are checked again."""
        with closing(self.connection):  # the old one
            try:
                self.connection = CONNECT[self.config.transport](self.name, self.config)
            except BadInput as error:  # a file that was right at first
                raise HostError(error.message, error.remedy) from error
            take_over()

    def close(self) -> None:
        self.connection.close()

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        started = time.monotonic()
        conversation: Conversation | None = None
        try:
            # a command that was sent, but not noted here, could not be ended
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
        """Send a command to the host. Raises HostLost if the host is out of reach."""
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
        last_line = first_line(reason.strip().rpartition("\n")[2])  # a proxy says last why it ended
        why = f": {last_line}" if last_line else ""
        host = self.config.host or self.config.login
        return HostLost(f"the connection to {host} was lost{moment}{why}", host=self.name)

    def _end(self, conversation: Conversation, root: bool) -> None:
        """End a running command with its children. sshd gave it a session of its own, led by the login shell."""
        pid = conversation.wait_for_pid(PID_DEADLINE_S)
        conversation.close()
        if pid is None or not self.connection.is_active:
            return
        try:
            # a command of the helper ends with its caller
            as_root = root and not self.is_narrow
            self._execute(("/bin/sh", "-c", END_COMMAND, "sh", pid), as_root, "", KILL_DEADLINE_S)
        except HostError:
            return  # the error that led here is the one to report

    def _hint(self, result: Result) -> str:
        if self.is_narrow and ("sudo:" in result.stderr or "file-share-lab: refused" in result.stderr):
            return HELPER_HINT.format(role=self.name)
        if "sudo:" in result.stderr and ("password" in result.stderr or "terminal" in result.stderr):
            return SUDO_HINT
        return ""


@contextmanager
def connected(config: Hosts) -> Iterator[dict[str, Host]]:
    """The hosts that the lab runs commands on, connected, by name. Raises HostError."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(closing(SshHost(name, config.section(name)))) for name in config.names}


@contextmanager
def reached(config: Hosts, log: CommandLog | None = None) -> Iterator[tuple[dict[str, Host], dict[str, str]]]:
    """The hosts that can be connected to, by name; and for each of the others what is wrong."""
    with ExitStack() as stack:
        hosts: dict[str, Host] = {}
        unreachable: dict[str, str] = {}
        for name in config.names:
            try:
                hosts[name] = host = stack.enter_context(closing(SshHost(name, config.section(name))))
                host.log = log or host.log
            except HostError as error:
                unreachable[name] = error.on_one_line()
        yield hosts, unreachable


_PLAIN = re.compile(r"[ -~]*")
_SPECIAL = frozenset("!\\'")
_MOST_BYTES = 900  # of one word
_DECODE = 'eval "set -- $(printf %b "$@")"; '


def script_line(first: str, rest: str, words: Sequence[str]) -> str:
    """The line by which /bin/sh runs ``first`` and ``rest``, plain text; only ``rest`` sees the words decoded."""
    if all(_is_plain(word) and len(word) < _MOST_BYTES for word in words):
        return shlex.join(["/bin/sh", "-c", first + rest, "sh", *words])
    coded = " ".join(f"'{part}'" for part in _coded(shlex.join(words)))
    return f"{shlex.join(['/bin/sh', '-c', first + _DECODE + rest, 'sh'])} {coded}"


def _is_plain(word: str) -> bool:
    return bool(_PLAIN.fullmatch(word)) and not _SPECIAL & set(word)


_CODES = tuple(chr(byte) if _is_plain(chr(byte)) else f"\\0{byte:03o}" for byte in range(256))


def _coded(line: str) -> Iterator[str]:
    """The line in parts that need only plain quotes; no number is cut in two."""
    part = ""
    for byte in line.encode():
        part += _CODES[byte]
        if len(part) >= _MOST_BYTES:
            yield part
            part = ""
    yield part
