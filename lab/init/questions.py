"""Numbered questions at a terminal: choices, of which Enter takes the first, or a typed answer in place of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lab.base.errors import BadInput
from lab.base.untrusted import one_line

LONGEST_ANSWER = 1000
MOST_CHOICES = 20  # a screen of them; what is further down can be typed
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Choice:
    """What can be chosen: ``answer`` is what a person would type in its place, ``label`` what is shown of it."""

    answer: str
    label: str = field(compare=False)


@dataclass
class Questions:
    """Asks one question after another. ``read`` shows a prompt and returns the line typed, ``tell`` prints a line."""

    read: Callable[[str], str]
    tell: Callable[[str], None]
    _asked: int = field(default=0, init=False)

    def ask(self, title: str, choices: Sequence[Choice], typed: str, parse: Callable[[str], AnswerT]) -> AnswerT:
        """The answer that ``parse`` makes of what was typed; its ValueError says what is wrong, and it is asked again.

        A number stands for its choice, and may have more behind it. ``typed`` says what may be typed in its place.
        Raises BadInput where the input ends.
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
    """A typed line with the answer of a choice in place of its number, or of nothing. Raises ValueError."""
    if not line and choices:
        return choices[0].answer
    first, _, rest = line.partition(" ")
    if first.isascii() and first.isdigit() and 1 <= int(first) <= len(choices):
        return f"{choices[int(first) - 1].answer} {rest.strip()}".strip()
    if not line:
        raise ValueError("type an answer; Ctrl-C ends this, and nothing is written")
    return line
