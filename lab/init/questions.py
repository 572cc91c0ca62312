"""Numbered questions at a terminal, and the answers. Enter takes the first choice; any answer can be typed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lab.base.errors import BadInput
from lab.base.untrusted import one_line

LONGEST_ANSWER = 1000
MOST_CHOICES = 20  # fit on a screen; others can be typed
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Choice:
    """A choice: its label, and the answer that a person could type instead."""

    answer: str
    label: str = field(compare=False)


@dataclass
class Questions:
    """Asks one question after another. ``read`` shows a prompt and returns the line typed, ``tell`` prints a line."""

    read: Callable[[str], str]
    tell: Callable[[str], None]
    _asked: int = field(default=0, init=False)

    def ask(self, title: str, choices: Sequence[Choice], typed: str, parse: Callable[[str], AnswerT]) -> AnswerT:
        """Ask until ``parse`` accepts the answer; its ValueError is shown.

        A number stands for its choice, and more text may follow it. ``typed`` describes what can be typed instead.
        Raises BadInput if the input ends.
        """
        self._asked += 1
        choices = choices[:MOST_CHOICES]
        self.tell("")
        self.tell(f"{self._asked}. {title}")
        for number, choice in enumerate(choices, 1):
            self.tell(f"   {number}) {one_line(choice.label, LONGEST_ANSWER)}")
        self.tell(f"   {'or type ' if choices else 'type '}{typed}")
        while True:
            try:
                return parse(_written_out(self._read("   [1] > " if choices else "   > "), choices))
            except ValueError as error:
                self.tell(f"   {one_line(str(error), LONGEST_ANSWER)}")

    def _read(self, prompt: str) -> str:
        try:
            return self.read(prompt)[:LONGEST_ANSWER].strip()
        except EOFError as error:
            raise BadInput("the input ended before every question was answered: nothing was written") from error
        except UnicodeDecodeError as error:
            raise ValueError("that is not UTF-8 text") from error


def _written_out(line: str, choices: Sequence[Choice]) -> str:
    """Replace the number of a choice, or an empty line, by the answer of the choice. Raises ValueError."""
    if not line and choices:
        return choices[0].answer
    first, _, rest = line.partition(" ")
    if first.isascii() and first.isdigit() and 1 <= int(first) <= len(choices):
        return f"{choices[int(first) - 1].answer} {rest.strip()}".strip()
    if not line:
        raise ValueError("type an answer; Ctrl-C ends this, and nothing is written")
    return line


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
