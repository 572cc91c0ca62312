"""`lab completion`: the script by which a shell completes commands, options, sweeps and runs."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from lab.base import shipped
from lab.cli.command import Example

SUMMARY = "print the script by which a shell completes commands, options, sweeps and runs"
EXAMPLES = (
    Example("lab completion bash", "into ~/.local/share/bash-completion/completions/lab"),
    Example("lab completion zsh", "into a file _lab in a folder of fpath"),
    Example("lab completion fish", "into ~/.config/fish/completions/lab.fish"),
)
SHELLS = ("bash", "zsh", "fish")
# How a value is completed, by its name in the help: by a function of the shell, or a kind of shtab
RUNS = {"bash": "_lab_run_dirs", "zsh": "_lab_runs", "fish": "(_lab_runs)"}
SWEEPS = {"bash": "_lab_sweep_files", "zsh": "_lab_sweeps", "fish": "(_lab_sweeps)"}
NOTEBOOKS = {"bash": "_lab_notebook_names", "zsh": "_lab_notebooks", "fish": "(_lab_notebooks)"}
BY_VALUE = {"RUN": RUNS, "A": RUNS, "B": RUNS, "C": RUNS, "SWEEP": SWEEPS, "NOTEBOOK": NOTEBOOKS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> int:
    print(script(arguments.shell, arguments.parser_of_all_commands()))
    return 0


def script(shell: str, root: argparse.ArgumentParser) -> str:
    import shtab

    kinds: dict[str, object] = {**BY_VALUE, "FILE": shtab.FILE, "DIR": shtab.DIRECTORY}
    for action in _actions(root):
        if action.metavar in kinds:
            vars(action)["complete"] = kinds[str(action.metavar)]
    names = {"sweeps": shipped.sweeps(), "examples": shipped.examples(), "notebooks": shipped.notebooks()}
    form = "set -g _lab_shipped_{} {}\n" if shell == "fish" else "_lab_shipped_{}=({})\n"
    lists = (form.format(kind, " ".join(values)) for kind, values in names.items())
    functions = Path(__file__).with_name(f"completion.{shell}").read_text(encoding="utf-8")
    return shtab.complete(root, shell, preamble="".join([*lists, functions]))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options and arguments of a parser and of all its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
