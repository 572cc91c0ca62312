"""One question: choices by number, Enter, a typed answer."""

from unittest.mock import Mock

import pytest

from lab.base.errors import BadInput
from lab.init.questions import MOST_CHOICES, Choice, Questions


def asked(lines: list[str], choices: list[Choice]) -> tuple[str, list[str]]:
    screen: list[str] = []

    def refuse_x(text: str) -> str:
        if text == "x":
            raise ValueError("not x\x1b[2J")
        return text

    answer = Questions(lambda prompt: lines.pop(0), screen.append).ask("Which?", choices, "a word", refuse_x)
    return answer, screen


ANSWERS = [("", "one"), ("2", "two"), (" 2 ", "two"), ("2 more", "two more")]
UNCHANGED = [(word, word) for word in ("3", "0", "two", "٢")]
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


def test_a_screen_of_choices_is_enough() -> None:
    many = [Choice(str(number), f"choice {number}") for number in range(500)]
    assert len(asked([""], many)[1]) == MOST_CHOICES + 3


def test_the_end_of_the_input_is_bad_input() -> None:
    with pytest.raises(BadInput, match="nothing was written"):
        Questions(Mock(side_effect=EOFError), print).ask("Which?", [], "a word", str)
