"""The command line: choose a command, run it, and turn its end into an exit code.

:data:`lab.cli.command.EXIT_CODES` lists the exit codes. An error is one message on standard error, never a traceback.
Commands import slow modules when they run: pandas, matplotlib and paramiko take a second, and `lab local` needs none.
"""

import argparse
import io
import os
import pwd
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lab import __version__
from lab.base import signals
from lab.base.errors import BadInput, Interrupted, LabError, RestoreError
from lab.base.os_errors import explain, remedy
from lab.base.own_python import leave_out_current_folder
from lab.cli import (
    check,
    compare,
    completion,
    contribute,
    dataset,
    export,
    fidelity,
    fleet,
    history,
    host,
    init,
    list_runs,
    local,
    measure,
    notebook,
    plan,
    published,
    report,
    restore,
    run,
    show,
    workload,
)
from lab.cli.command import Command, CommandGroup, Example, Parser, add_to
from lab.cli.terminal import say

EXAMPLES = (
    Example("lab measure smb://nas/media", "one share, from this machine, in a minute"),
    Example("lab init", "six questions, and a hosts file for more"),
    Example("lab check", "what can be measured between two hosts, and what is in the way"),
    Example("lab plan macs", "what a sweep does, and how long it takes"),
    Example("lab run macs", "measure; Ctrl-C puts everything back, too"),
    Example("lab show", "the answer"),
    Example("lab report --open", "the report, with figures, in the browser"),
)

# The commands, in the order in which a newcomer needs them
COMMANDS: dict[str, Command | CommandGroup] = {
    "measure": measure, "init": init, "check": check, "plan": plan, "run": run, "restore": restore, "list": list_runs,
    "show": show, "compare": compare, "history": history, "published": published, "report": report, "export": export,
    "dataset": dataset, "contribute": contribute, "fidelity": fidelity, "notebook": notebook, "workload": workload,
    "fleet": fleet, "host": host, "local": local, "completion": completion,
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    _open_streams()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold passwords
    leave_out_current_folder()
    if not os.environ.get("HOME"):  # as for a service of systemd: programs and scripts of the lab need it
        with suppress(KeyError):  # an account without a name
            os.environ["HOME"] = pwd.getpwuid(os.geteuid()).pw_dir
    signals.install()
    try:
        words = sys.argv[1:] if argv is None else argv
        arguments = parser(*words[:1]).parse_args(words)
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except SystemExit:  # of the parser, after a help or a usage
        _give_up_output()
        raise
    except BrokenPipeError:  # the reader of our output has seen enough
        code = 1
    except LabError as error:
        say(error.brief())
        stopped_by = error.stopped_by if isinstance(error, RestoreError) else None
        code = signals.exit_code() or (stopped_by.exit_code if stopped_by else 2 if isinstance(error, BadInput) else 1)
    except Interrupted as stopped:
        say(str(stopped))
        code = stopped.exit_code
    except OSError as error:
        say(_explain(error))
        code = 1
    _give_up_output()
    return code


def parser(word: str = "") -> argparse.ArgumentParser:
    """A parser with the command ``word`` alone if it exists, because all commands take a while; else with all."""
    root = Parser(prog="lab", description="How fast is a file share, and what holds it back?")
    root.examples = EXAMPLES
    root.set_defaults(parser_of_all_commands=parser)
    root.add_argument("--version", action="version", version=f"lab {__version__}")
    commands = root.add_subparsers(required=True, metavar="COMMAND")
    for name, module in ({word: COMMANDS[word]} if word in COMMANDS else COMMANDS).items():
        add_to(commands, name, module)
    return root


def _open_streams() -> None:
    """Open standard streams that were closed; print ``?`` for characters that the terminal lacks."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("r+"))  # noqa: SIM115  it stays
        elif isinstance(stream, io.TextIOWrapper) and name != "stdin":
            stream.reconfigure(errors="replace")


def _explain(error: OSError) -> str:
    """Describe an error of the system. Without a file, it is about standard output if no line can be printed."""
    if error.filename is None:
        try:
            print(flush=True)
        except OSError as again:
            return f"standard output: {again.strerror}"
    return "\n".join(filter(None, [explain(error), remedy(error)]))


def _give_up_output() -> None:
    """Discard output that cannot be written. Otherwise Python tries again at its end, and fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    raise SystemExit(main())
