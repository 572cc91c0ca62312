"""Every error that the lab raises on purpose: BadInput exits with 2, other LabErrors with 1."""

import re
import shlex
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.base.os_errors import explain, remedy
from lab.base.secret_texts import without_secrets
from lab.base.untrusted import first_line, one_line

LONGEST = 20_000  # characters of a message: a host may print megabytes where a word belongs
LONGEST_LINE = 300
LONGEST_CAUSE, LONGEST_REMEDY = 300, 2000  # at the terminal
LONGEST_FAILURE, LONGEST_NAME = 190, 60  # of a failed command at the terminal, and of its name
A_SCRIPT = "a script of the lab's"
WRAPS = re.compile(r'(exec )?"\$@"')  # a script that runs the words after it


class LabError(Exception):
    """What happened, and in ``remedy`` what to do about it, if that is known. No text of it holds a password.

    ``host`` is the role of the host concerned; the text begins with it. ``message`` begins with any other place, such
    as file, section and key, and has no full stop at its end. With ``several``, each line of the message is a cause of
    its own or a command to type. ``log`` is the file with more details.
    """

    log: Path | None = None

    def __init__(self, message: str, remedy: str = "", *, host: str = "", several: bool = False):
        self.host = host
        message = without_secrets(message[: 4 * LONGEST])
        self.message = message if len(message) <= LONGEST else f"{message[:LONGEST]}…"
        self.remedy, self.several = without_secrets(remedy), several
        super().__init__(self.message, self.remedy)

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.host, self.message, self.remedy]))

    def cause(self) -> str:
        """What happened in one line of LONGEST_CAUSE characters, without the host."""
        return shorten(self.message, LONGEST_CAUSE)

    def brief(self) -> str:
        """The text for the terminal: host and cause on one line; the whole remedy, and the log, on a second one."""
        cause = self.message if self.several else self.cause()
        more = f"(details: {self.log})" if self.log else ""
        second = " ".join(filter(None, [one_line(self.remedy, LONGEST_REMEDY), more]))
        return "\n".join(filter(None, [": ".join(filter(None, [self.host, cause])), second]))

    def on_one_line(self) -> str:
        """Host, cause and remedy, for use within another text."""
        return ": ".join(filter(None, [self.host, self.cause(), one_line(self.remedy, LONGEST_REMEDY)]))

    def cause_first(self) -> str:
        """Host, message and remedy with the cause on the first line: a list of trials shows only that."""
        return str(self)


class BadInput(LabError):
    """A file, a key or an argument is wrong; the message names it and what would be right."""


class LabFailure(LabError):
    """It ran, and something failed."""


class HostError(LabFailure):
    """A host cannot be reached, or the connection to it broke."""


class HostLost(HostError):
    """The connection to a host broke while it was used."""


class HostKeyError(HostError):
    """The host key is unknown or differs from the one on record."""


class CommandError(HostError):
    """A command on a host failed: the command, its exit code, the last lines of its output, and the remedy."""

    def __init__(self, host: str, argv: Sequence[str], exit_code: int | None, output: str, remedy: str = ""):
        self.argv, self.exit_code, self.output = tuple(argv), exit_code, without_secrets(output)
        tail = [f"    {line[:LONGEST_LINE]}" for line in self.output.strip().splitlines()[-6:]]
        super().__init__("\n".join([f"{abridge(argv)}: {self.how_it_ended()}", *tail]), remedy, host=host)

    def __str__(self) -> str:
        return "\n".join(filter(None, [f"{self.host}: {self.message}", self.remedy]))

    def cause_first(self) -> str:
        """What the command printed, or how it ended; then the command and the remedy."""
        printed = [line[:LONGEST_LINE] for line in self.output.strip().splitlines()]
        first, *others = [self.how_it_ended(), *printed] if self.exit_code is None else [*printed, self.how_it_ended()]
        lines = [f"{self.host}: {first}", *(f"    {line}" for line in others[-6:]), f"    of {abridge(self.argv)}"]
        return "\n".join([*lines, *([self.remedy] if self.remedy else [])])

    def cause(self) -> str:
        """The name of the command, how it ended, and its last line of output, which mostly says why."""
        start = f"{name_of(self.argv)}: {self.how_it_ended()}"
        last_line = self.output.rstrip().rpartition("\n")[2]
        return f"{start}: {shorten(last_line, LONGEST_FAILURE - len(start) - 2)}" if last_line else start

    def how_it_ended(self) -> str:
        """Say how the command ended, for the message."""
        return f"exit code {self.exit_code}" if self.exit_code is not None else "the connection was lost"


class DeadlineExceeded(CommandError):
    """A command on a host did not end within its deadline and was ended."""

    def __init__(self, host: str, argv: Sequence[str], deadline_s: float, output: str):
        self.deadline_s = deadline_s
        super().__init__(host, argv, None, output)

    def how_it_ended(self) -> str:
        """Say how long it was given, for the message."""
        return f"did not end within {self.deadline_s:g} s and was ended"


class Unsupported(LabFailure):
    """This host, platform or protocol cannot do what was asked, and why."""


class Closed(Unsupported):
    """One protocol is unsupported on this host as it is: a sweep goes on without it and says what would help."""


class Absent(Unsupported):
    """Unsupported, and nothing would help: a sweep goes on without what needs it."""


class SettingRefused(LabFailure):
    """A setting was written and does not read back as asked."""


class RestoreError(LabFailure):
    """Some changes could not be put back. ``problems`` has a line for each; its texts begin with what failed before.

    ``by_hand`` is the file with the commands to type, if they would help.
    """

    def __init__(self, problems: Sequence[str], by_hand: Path | None = None):
        self.problems = tuple(map(without_secrets, problems))
        self.by_hand = by_hand
        super().__init__("not everything could be put back", "`lab restore` tries again")

    @property
    def stopped_by(self) -> "Interrupted | None":
        """The signal that led to the restore, if one did: its exit code is the program's."""
        first = self.failed_before()
        return first if isinstance(first, Interrupted) else None

    def failed_before(self) -> BaseException | None:
        """What led to the restore, the first of several failures; None if nothing had failed."""
        before = list(_raised_before(self))
        told = [error for error in before if isinstance(error, LabError | Interrupted)]
        return (told or before[:1] or [None])[-1]

    def details(self) -> list[str]:
        """A line for each change that stays, and the file with the commands to type."""
        return [*self.problems, *([f"to put it back by hand, type what {self.by_hand} has"] if self.by_hand else [])]

    def cause(self) -> str:
        """What failed before, and that not everything could be put back, in one line."""
        first = self.failed_before()
        return "; ".join(filter(None, [_in_a_line(first) if first else "", self.message]))

    def brief(self) -> str:
        """What failed before, with its remedy; then all of it."""
        first = self.failed_before()
        text = first.brief() if isinstance(first, LabError) else _in_a_line(first) if first else ""
        return "\n".join(filter(None, [text, self.of_the_restore()]))

    def of_the_restore(self) -> str:
        """What could not be put back, without what failed before."""
        return "\n".join([f"{self.message}; {self.remedy}", *self.details()])

    def __str__(self) -> str:
        return "\n".join([f"{self.cause()}; {self.remedy}", *self.details()])


class NotNoted(RestoreError):
    """Everything was put back, but the journal could not be written to and does not say so."""

    def __init__(self, problems: Sequence[str], why: OSError):
        super().__init__(problems)
        self.message = f"{explain(why)}; everything was put back on the hosts, but not noted here"
        self.remedy = remedy(why, "`lab restore` notes it, and `lab run --resume` goes on")

    def of_the_restore(self) -> str:
        """Cause and remedy: nothing is to be typed by hand."""
        return f"{self.message}\n{self.remedy}"


class TransferError(LabFailure):
    """A transfer failed, or moved the wrong bytes."""


class Interrupted(BaseException):
    """Ctrl-C, SIGTERM or SIGHUP asks the lab to stop. No Exception, so that no library swallows it."""

    def __init__(self, message: str, number: int = signal.SIGINT):
        self.number = number
        super().__init__(message)

    @property
    def exit_code(self) -> int:
        """The exit code that shells give to a program ended by this signal: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.number


def _raised_before(error: BaseException) -> Iterator[BaseException]:
    """What was raised before this error and led to it, newest first, without failures to put back."""
    known: set[int] = set()  # an error may have been raised from itself
    while id(error) not in known:
        known.add(id(error))
        # what an error explains ("raise … from") is the same failure in other words
        while error.__suppress_context__ and (same := error.__cause__ or error.__context__) and id(same) not in known:
            error = same
            known.add(id(error))
        if error.__context__ is None:
            return
        error = error.__context__
        if not isinstance(error, RestoreError):
            yield error


def _in_a_line(error: BaseException) -> str:
    """An error in one line, without its remedy."""
    if isinstance(error, LabError):
        return ": ".join(filter(None, [error.host, error.cause()]))
    if isinstance(error, OSError):
        return explain(error)
    return str(error) if isinstance(error, Interrupted) else shorten(repr(error), LONGEST_CAUSE)


def abridge(argv: Sequence[str], width: int = 160) -> str:
    """One line that shows a command as a person would type it, cut at ``width`` characters."""
    line = without_secrets(" ".join(shlex.join(argv).split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def name_of(argv: Sequence[str]) -> str:
    """A command in a few words: its beginning; for a wrapper script, the command that it runs."""
    if tuple(argv[:2]) == ("/bin/sh", "-c") and len(argv) > 2:
        if WRAPS.match(argv[2]) and len(argv) > 4:
            return name_of(argv[4:])
        return without_secrets(argv[2]) if len(argv[2]) <= LONGEST_NAME and argv[2].isprintable() else A_SCRIPT
    return abridge(argv, LONGEST_NAME)


def shorten(text: str, most: int) -> str:
    """The text as one line of at most so many characters; a longer text keeps its beginning and its end."""
    line = one_line(text)
    if len(line) <= most:
        return line
    end = most // 2
    return f"{line[: most - end - 3]} … {line[len(line) - end :]}"


def cause_and_remedy(reason: str) -> str:
    """The first line of a failed trial's reason, and its last line if that is a remedy: details are indented."""
    first, *others = [line for line in reason.splitlines() if line.strip()] or [""]
    remedy = others[-1] if others and not others[-1].startswith(" ") else ""
    return first_line(first, LONGEST_LINE) + (f" -> {first_line(remedy, LONGEST_LINE)}" if remedy else "")
