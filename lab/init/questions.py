"""Numbered questions at a terminal, and the answers. Enter takes a choice; any answer can be typed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lab.base.errors import BadInput, Interrupted
from lab.base.untrusted import one_line

LONGEST_ANSWER = 1000
LONGEST_NUMBER = 2  # digits; more may be the name of a share
MOST_CHOICES = 20  # fit on a screen; others can be typed
NO_ANSWER = "type an answer; Ctrl-C ends this, and nothing is written"
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Choice:
    """A choice: its label, the answer that a person could type instead, and why it cannot be taken (empty: it can)."""

    answer: str
    label: str = field(compare=False)
    why_not: str = field(default="", compare=False)


class LacksAddress(ValueError):
    """An answer names a host whose address has to be typed behind it."""


@dataclass
class Questions:
    """Asks one question after another. ``read`` shows a prompt and returns the line typed, ``tell`` prints a line."""

    read: Callable[[str], str]
    tell: Callable[[str], None]
    _asked: int = field(default=0, init=False)

    def ask(
        self,
        title: str,
        choices: Sequence[Choice],
        typed: str,
        parse: Callable[[str], AnswerT],
        by_enter: Choice | None = None,
        numbers_are_names: bool = False,
    ) -> AnswerT:
        """Ask until ``parse`` accepts the answer; its ValueError is shown.

        A number stands for its choice, and more text may follow it. Enter takes ``by_enter`` (None: the first choice
        that can be taken) until ``parse`` refuses it. ``typed`` describes what can be typed instead. With
        ``numbers_are_names`` a number is a name if it has more than LONGEST_NUMBER digits, or if there are no choices.
        Raises BadInput if the input ends.
        """
        self._asked += 1
        self.tell("")
        self.tell(f"{self._asked}. {title}")
        for number, choice in enumerate(choices, 1):
            text = f"{choice.label}: {choice.why_not}" if choice.why_not else choice.label
            self.tell(f"   {number}) {one_line(text, LONGEST_ANSWER)}")
        self.tell(f"   {'or type ' if choices else 'type '}{typed}")
        by_enter = by_enter or next((choice for choice in choices if not choice.why_not), None)
        default = str(choices.index(by_enter) + 1) if by_enter else ""
        last_reason = ""
        while True:
            line = ""
            try:
                line = self._read(f"   [{default}] > " if default else "   > ") or default
                return parse(_written_out(line, choices, numbers_are_names))
            except LacksAddress as error:
                reason = f"{error}: type {line} ADDRESS, with its address on the link to measure"
            except ValueError as error:
                reason = str(error)
            if (reason, last_reason) != (NO_ANSWER, NO_ANSWER):  # Enter, pressed again, is answered once
                self.tell(f"   {one_line(reason, LONGEST_ANSWER)}")
            default, last_reason = ("" if line == default else default), reason

    def _read(self, prompt: str) -> str:
        try:
            return self.read(prompt)[:LONGEST_ANSWER].strip()
        except Interrupted:
            self.tell("")  # the cursor stands behind the prompt
            raise
        except EOFError as error:
            self.tell("")
            raise BadInput("the input ended before every question was answered: nothing was written") from error
        except UnicodeDecodeError as error:
            raise ValueError("that is not UTF-8 text") from error


def _written_out(line: str, choices: Sequence[Choice], numbers_are_names: bool) -> str:
    """Replace the number of a choice by the answer of the choice. Raises ValueError."""
    if not line:
        raise ValueError(NO_ANSWER)
    first, _, rest = line.partition(" ")
    is_name = numbers_are_names and (len(first) > LONGEST_NUMBER or not choices)
    if is_name or not (first.isascii() and first.isdigit()):
        return line
    if not 1 <= int(first) <= len(choices):
        can_be_taken = any(not choice.why_not for choice in choices)
        raise ValueError(f"there are only 1 to {len(choices)}" if can_be_taken else "no number can be taken here")
    choice = choices[int(first) - 1]
    if choice.why_not:
        raise ValueError(f"{first} cannot be taken: {choice.why_not}")
    return f"{choice.answer} {rest.strip()}".strip()


@dataclass(frozen=True)
class HostAnswer:
    """The client or the server.

    ``host`` is the name for ssh; empty for this machine, and for a server without a login. ``name`` is for people,
    ``user`` may be empty. ``address`` is on the measured link; ``interface`` is this machine's interface there.
    """

    host: str
    name: str
    user: str
    address: str
    interface: str = ""


@dataclass(frozen=True)
class ShareAnswer:
    """The share: its protocol, its name for SMB and AFP, and its folder on the server if that is needed.

    ``by_lab``: the lab serves a folder during a run. ``guessed``: the folder is a guess. ``mounted`` is the folder
    where this machine has mounted the share already; then name and path are empty.
    """

    protocol: str = ""
    name: str = ""
    path: str = ""
    by_lab: bool = False
    guessed: bool = False
    mounted: str = ""


@dataclass(frozen=True)
class AccountAnswer:
    """The account of the share, and where its password comes from."""

    name: str
    password: str


@dataclass(frozen=True)
class Answers:
    """All answers. ``sudo`` tells how accounts other than root run root commands."""

    client: HostAnswer
    server: HostAnswer
    share: ShareAnswer
    account: AccountAnswer
    sudo: str

    def sudo_of(self, host: HostAnswer) -> str:
        """How root commands run on a host: root needs no sudo."""
        return "none" if host.user == "root" else self.sudo
