"""What a command says about itself. Its help, the man page and the page of the reference follow from it."""

import argparse
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias, runtime_checkable

from lab.base.untrusted import shown

# For a program that a signal ended: 128 and the number of the signal
EXIT_CODES = {
    0: "done",
    1: "it ran, and something failed, or not all of it ran",
    2: "bad input: nothing was touched",
    3: "a condition of --fail-if holds",
    130: "Ctrl-C, or 143 for SIGTERM; what was changed on hosts was put back first, or is named",
}
Run = Callable[[argparse.Namespace], int]


class Example(NamedTuple):
    """A line to type, and what it does."""

    line: str
    meaning: str


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Command(Protocol):
    """A module of this package: one command."""

    SUMMARY: str

    @property
    def EXAMPLES(self) -> Sequence[Example]:  # noqa: N802  a module's constant
        """Lines to type."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options and arguments to the command's parser."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the command; its exit code."""


@runtime_checkable
class CommandGroup(Protocol):
    """A module of this package: several commands that share their first word."""

    SUMMARY: str

    def add_commands(self, commands: Commands) -> None:
        """Add each command by :func:`add_command`."""


class Parser(argparse.ArgumentParser):
    """A parser whose help has examples and exit codes, and whose errors suggest the name that may be meant."""

    examples: Sequence[Example] = ()

    def error(self, message: str) -> NoReturn:
        """See :meth:`argparse.ArgumentParser.error`. Control characters are escaped: a word may be a file's name."""
        super().error(shown(" / ".join(message.splitlines())))

    def format_help(self) -> str:
        """See :meth:`argparse.ArgumentParser.format_help`."""
        width: int = self._get_formatter()._width
        texts = [super().format_help().rstrip("\n")]
        if self.examples:
            blocks = (f"  {example.line}\n{_indent(example.meaning, 6, width)}" for example in self.examples)
            texts.append("\n".join(["examples:", *blocks]))
        codes = (_indent(meaning, 6, width, start=f"  {code:<4}") for code, meaning in exit_codes(self).items())
        texts.append("\n".join(["exit codes:", *codes]))
        return "\n\n".join(texts) + "\n"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See :meth:`argparse.ArgumentParser.parse_known_args`. An unknown argument is an error."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            option = next((word for word in unknown if word.startswith("-")), "").partition("=")[0]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{_hint(option, list(self._option_string_actions))}")
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            names = list(map(str, action.choices))
            message = f"invalid choice: {value!r} (choose from {', '.join(names)}){_hint(str(value), names)}"
            raise argparse.ArgumentError(action, message)


def _hint(name: str, names: list[str]) -> str:
    from lab.base.did_you_mean import hint  # rarely needed

    return hint(name, names)


def _indent(text: str, columns: int, width: int, start: str = "") -> str:
    space = " " * columns
    return textwrap.fill(text, max(width, 40), initial_indent=start or space, subsequent_indent=space)


def exit_codes(parser: argparse.ArgumentParser) -> dict[int, str]:
    """The meanings of a command's exit codes; a parser with commands has the exit codes of all."""
    has_commands = any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)
    has_conditions = has_commands or "--fail-if" in parser._option_string_actions
    return {code: meaning for code, meaning in EXIT_CODES.items() if code != 3 or has_conditions}


def add_to(commands: Commands, name: str, module: Command | CommandGroup) -> None:
    """Add the command, or the group of commands, of a module."""
    if isinstance(module, CommandGroup):
        group = commands.add_parser(name, help=module.SUMMARY, description=sentence(module.SUMMARY))
        module.add_commands(group.add_subparsers(required=True, metavar="COMMAND"))
    else:
        module.add_arguments(add_command(commands, name, module.run, module.SUMMARY, module.EXAMPLES))


def add_command(commands: Commands, name: str, run: Run, summary: str, examples: Sequence[Example]) -> Parser:
    """Add a command; ``run`` takes its arguments and returns the exit code."""
    parser = commands.add_parser(name, help=summary, description=sentence(summary))
    parser.examples = examples
    parser.set_defaults(command=run)
    return parser


def sentence(summary: str) -> str:
    return f"{summary[:1].upper()}{summary[1:]}."
