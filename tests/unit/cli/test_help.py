"""What every command says of itself, and what it says of a word that it does not know."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest
from support.commands import Command, Lab

from lab.base import shipped
from lab.cli.command import EXIT_CODES, Example, Parser, add_command
from lab.cli.main import COMMANDS, parser


def commands_of(parent: argparse.ArgumentParser, *words: str) -> Iterator[tuple[tuple[str, ...], Parser]]:
    """Every command, with the words that call it."""
    for action in parent._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield (*words, name), command
                yield from commands_of(command, *words, name)


PROGRAM = parser()
EVERY = dict(commands_of(PROGRAM))
LEAVES = {words: command for words, command in EVERY.items() if command.get_default("command")}
EXAMPLES = [(words, example) for words, command in LEAVES.items() for example in command.examples]


def words_of(example: Example) -> list[str]:
    """The words after `lab`."""
    name, *words = shlex.split(example.line.removeprefix("sudo "))
    assert name == "lab"
    return words


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_the_help_of_a_command_has_its_examples_and_exit_codes(lab: Lab, words: tuple[str, ...]) -> None:
    code, out, err = lab(*words, "--help")
    assert (code, out, err) == (0, EVERY[words].format_help(), "")
    assert out.startswith(f"usage: lab {' '.join(words)} ")
    assert re.search(r"\n\nexit codes:\n  0   done\n", out)
    assert "\n  130 Ctrl-C" in out
    assert ("--fail-if" in out) == ("\n  3 " in out)
    assert EVERY[words].examples or words not in LEAVES
    for example in EVERY[words].examples:
        assert f"\n  {example.line}\n      " in out


@pytest.mark.parametrize(("words", "example"), EXAMPLES, ids=[example.line for _, example in EXAMPLES])
def test_an_example_parses_as_its_command(words: tuple[str, ...], example: Example) -> None:
    arguments = PROGRAM.parse_args(words_of(example))
    assert arguments.command is LEAVES[words].get_default("command")
    sweep = getattr(arguments, "sweep", None)
    assert sweep is None or str(sweep) in shipped.sweeps() or str(sweep) == "my.toml"
    assert example.meaning[0].islower() or example.meaning.startswith("`")
    assert not example.meaning.endswith(".")


def test_the_examples_of_the_program_parse(lab: Lab) -> None:
    assert isinstance(PROGRAM, Parser)
    printed = lab("--help")[1]
    for example in PROGRAM.examples:
        assert PROGRAM.parse_args(words_of(example)).command
        assert example.line in printed
    assert all(meaning.split()[0] in printed for meaning in EXIT_CODES.values())
    assert {words[0] for words in EVERY} == set(COMMANDS)


def test_the_exit_code_of_a_condition_is_that_of_commands_that_take_one() -> None:
    commands = Parser(prog="lab").add_subparsers()
    plain, judging = (add_command(commands, name, lambda _: 0, "do it", []) for name in ("plain", "judging"))
    judging.add_argument("--fail-if")
    assert "\n  3   a condition of --fail-if holds\n" in judging.format_help()
    assert "--fail-if" not in plain.format_help()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines_to_type = {f"  {example.line}" for example in EVERY[words].examples}
    wide = [line for line in EVERY[words].format_help().splitlines() if len(line) > width]
    assert [line for line in wide if line not in lines_to_type and " " in line.strip("[] ")] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("shwo", "did you mean 'show'?"), ("Plan a.toml", "did you mean 'plan'?"),
        ("local dwon", "did you mean 'down'?"), ("show --table sped", "did you mean 'speeds'?"),
        ("show --fulll", "unrecognized arguments: --fulll; did you mean '--full'?"),
        ("run a.toml --hsots=x", "unrecognized arguments: --hsots=x; did you mean '--hosts'?"),
        ("local fault client eject-bsuy", "did you mean 'eject-busy'?"), ("completion bsah", "did you mean 'bash'?"),
    ],
)  # fmt: skip
def test_a_word_that_is_spelt_nearly_right_is_corrected(refused: Command, line: str, message: str) -> None:
    err = refused(*line.split())
    assert err.startswith("usage: lab")
    assert err.rstrip().endswith(message)


def test_an_option_may_be_shortened_and_a_word_that_is_like_none_is_not_guessed(refused: Command) -> None:
    assert PROGRAM.parse_args(["run", "a.toml", "--host=x"])
    for line in ("fly", "show --zzz", "show a b", "local exec nas"):
        assert "did you mean" not in refused(*line.split()), line
