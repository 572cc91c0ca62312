"""One question: choices by number, Enter, a typed answer."""

from unittest.mock import Mock

import pytest

from lab.base.errors import BadInput
from lab.init.questions import Choice, Questions


def asked(lines: list[str], choices: list[Choice]) -> tuple[str, list[str]]:
    screen: list[str] = []

    def refuse_x(text: str) -> str:
        if text == "x":
            raise ValueError("not x\x1b[2J")
        return text

    answer = Questions(lambda prompt: lines.pop(0), screen.append).ask("Which?", choices, "a word", refuse_x)
    return answer, screen


ANSWERS = [("", "one"), ("2", "two"), (" 2 ", "two"), ("2 more", "two more")]
UNCHANGED = [(word, word) for word in ("two", "٢", "2.5")]
CHOICES = [Choice("one", "the first"), Choice("two", "the second\x1b[2J")]


@pytest.mark.parametrize(("typed", "answer"), [*ANSWERS, *UNCHANGED])
def test_a_number_stands_for_its_choice_and_enter_for_the_first(typed: str, answer: str) -> None:
    assert asked([typed], CHOICES)[0] == answer


def test_what_others_wrote_does_nothing_to_the_terminal() -> None:
    question = ["1. Which?", "   1) the first", r"   2) the second\x1b[2J", "   or type a word"]
    assert asked(["x", "y"], CHOICES) == ("y", ["", *question, r"   not x\x1b[2J"])


def test_without_choices_there_is_nothing_that_enter_could_take() -> None:
    answer, screen = asked(["", "y"], [])
    assert (answer, screen[2]) == ("y", "   type a word")
    assert screen[3].startswith("   type an answer")


@pytest.mark.parametrize("typed", ["3", "0", "999", "3 more"])
def test_a_number_that_is_on_no_list_is_asked_again(typed: str) -> None:
    answer, screen = asked([typed, "2"], CHOICES)
    assert (answer, screen[-1]) == ("two", "   there are only 1 to 2")
    assert asked([typed, "two"], [])[1][-1] == "   no number can be taken here"


def test_a_choice_that_cannot_be_taken_keeps_its_number_and_says_why() -> None:
    choices = [Choice("one", "the first", "it is the client"), Choice("two", "the second")]
    assert asked([""], choices)[0] == "two"
    screen = asked(["1 more", "2"], choices)[1]
    assert screen[2] == "   1) the first: it is the client"
    assert screen[-1] == "   1 cannot be taken: it is the client"
    assert asked(["", "two"], choices[:1])[1][-1].startswith("   type an answer")


def test_the_end_of_the_input_is_bad_input() -> None:
    screen: list[str] = []
    with pytest.raises(BadInput, match="nothing was written"):
        Questions(Mock(side_effect=EOFError), screen.append).ask("Which?", [], "a word", str)
    assert screen[-1] == ""  # the message begins a line, below the prompt
