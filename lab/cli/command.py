"""What a command says of itself, once: its help, the man page and the page of the reference are made of it."""

import argparse
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol, runtime_checkable

from lab.base.untrusted import shown

# As a program that a signal ended, 128 and its number
EXIT_CODES = {
    0: "done",
    1: "it ran, and something failed, or not all of it ran",
    2: "bad input: nothing was touched",
    3: "a condition of --fail-if holds",
    130: "Ctrl-C, or 143 for SIGTERM; what was changed on hosts was put back first",
}
Run = Callable[[argparse.Namespace], int]


class Example(NamedTuple):
    """A line to type, and what it does."""

    line: str
    meaning: str


Examples = Sequence[Example]


class Command(Protocol):
    """A module of this package: one command."""

    SUMMARY: str

    @property
    def EXAMPLES(self) -> Examples:  # noqa: N802  a module's constant
        """Lines to type."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Give its parser its options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""


@runtime_checkable
class CommandGroup(Protocol):
    """A module of this package: several commands that share their first word."""

    SUMMARY: str

    def add_commands(self, parser: argparse.ArgumentParser) -> None:
        """Give its parser these commands, by :func:`add_command`."""


class Parser(argparse.ArgumentParser):
    """Adds examples and exit codes to the help, and to what is wrong with a word the name that may be meant."""

    examples: Examples = ()

    def error(self, message: str) -> NoReturn:
        """See :meth:`argparse.ArgumentParser.error`. What stands in a word is not obeyed: it may be a file's name."""
        super().error(shown(" / ".join(message.splitlines())))

    def format_help(self) -> str:
        """See :meth:`argparse.ArgumentParser.format_help`."""
        formatter = self._get_formatter()
        width: int = formatter._width
        texts = [super().format_help().rstrip("\n")]
        if self.examples:
            blocks = (f"  {example.line}\n{_indent(example.meaning, 6, width)}" for example in self.examples)
            texts.append("\n".join(["examples:", *blocks]))
        codes = (_indent(meaning, 6, width, start=f"  {code:<4}") for code, meaning in exit_codes(self).items())
        texts.append("\n".join(["exit codes:", *codes]))
        return "\n\n".join(texts) + "\n"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See :meth:`argparse.ArgumentParser.parse_known_args`: but what is not known ends it here."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            option = next((word for word in unknown if word.startswith("-")), "").partition("=")[0]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{_hint(option, self._option_string_actions)}")
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = list(map(str, action.choices))
            raise argparse.ArgumentError(
                action, f"invalid choice: {value!r} (choose from {', '.join(names)}){_hint(str(value), names)}"
            )


def _hint(name: str, names: Any) -> str:
    from lab.base.did_you_mean import hint  # wanted rarely

    return hint(name, names)


def _indent(text: str, columns: int, width: int, start: str = "") -> str:
    space = " " * columns
    return textwrap.fill(text, max(width, 40), initial_indent=start or space, subsequent_indent=space)


def exit_codes(parser: argparse.ArgumentParser) -> dict[int, str]:
    """What the exit codes of a command mean; a parser that has commands has those of all."""
    has_commands = any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)
    has_conditions = has_commands or "--fail-if" in parser._option_string_actions
    return {code: meaning for code, meaning in EXIT_CODES.items() if code != 3 or has_conditions}


def add_to(commands: Any, name: str, module: Command | CommandGroup) -> None:
    """Make a module one of ``commands``, which :meth:`argparse.ArgumentParser.add_subparsers` made."""
    if isinstance(module, CommandGroup):
        module.add_commands(commands.add_parser(name, help=module.SUMMARY, description=sentence(module.SUMMARY)))
    else:
        module.add_arguments(add_command(commands, name, module.run, module.SUMMARY, module.EXAMPLES))


def add_command(commands: Any, name: str, run: Run, summary: str, examples: Examples) -> Parser:
    """A new one of ``commands``; ``run`` takes its arguments and returns the exit code."""
    parser: Parser = commands.add_parser(name, help=summary, description=sentence(summary))
    parser.examples = examples
    parser.set_defaults(command=run)
    return parser


def sentence(summary: str) -> str:
    """A summary as a sentence."""
    return f"{summary[:1].upper()}{summary[1:]}."
