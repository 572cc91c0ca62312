"""The command line: which command, and what its end means.

Exit 0: done; 1: it ran and something failed, or not all of it ran; 2: bad input. Errors are one message on standard
error, never a traceback. What a command alone needs is imported where it runs: pandas, matplotlib and paramiko take a
second, and `lab local` needs none of them.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from lab import __version__
from lab.base import signals
from lab.base.errors import BadInput, Interrupted, LabError
from lab.base.untrusted import printable
from lab.cli import check, compare, host, local, notebook, plan, report, restore, run, show
from lab.cli.terminal import HOSTS, say


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a word of the command line without obeying what stands in it: it may be a file's name."""

    def error(self, message: str) -> NoReturn:
        """See :meth:`argparse.ArgumentParser.error`."""
        super().error(printable(" / ".join(message.splitlines())))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    _open_streams()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold passwords
    arguments = parser().parse_args(argv)
    signals.install()
    try:
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except BadInput as error:
        say(str(error))
        return 2
    except BrokenPipeError:
        _give_up_output()
        return 1  # whoever read our output has seen enough
    except (LabError, Interrupted) as error:
        say(str(error))
        _give_up_output()
        return 1
    except OSError as error:
        say(_explain(error))
        _give_up_output()
        return 1
    return code


def parser() -> argparse.ArgumentParser:
    """Every command and option."""
    root = Parser(prog="lab", description="How fast is a file share, and what holds it back?")
    root.add_argument("--version", action="version", version=f"lab {__version__}")
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str, function: Callable[[argparse.Namespace], int], text: str, hosts: str = ""
    ) -> argparse.ArgumentParser:
        subparser = commands.add_parser(name, help=text, description=text)
        subparser.set_defaults(command=function)
        if hosts:
            subparser.add_argument("--hosts", type=Path, metavar="FILE", help=hosts)
        return subparser

    text = "look at both hosts and say what can be measured; changes nothing"
    check.add_arguments(command("check", check.run, text, hosts=f"the hosts file (default: {HOSTS})"))
    text = "show what a sweep would do, and if the hosts fit it; changes nothing"
    plan.add_arguments(command("plan", plan.run, text, hosts="a hosts file that the sweep has to fit"))
    text = "run a sweep; the last line printed is the run folder"
    hosts = f"the hosts file (default: {HOSTS}, or that of the run to resume)"
    run.add_arguments(command("run", run.run, text, hosts=hosts))
    hosts = "reach the hosts by this file (default: that of each run), and put back what they have noted themselves too"
    text = "put back what interrupted runs of this account left changed; safe to repeat, and from any folder"
    restore.add_arguments(command("restore", restore.run, text, hosts=hosts))
    show.add_arguments(command("show", show.run, "the tables of a run"))
    text = "the cases of run B over those of run A, such as a new kernel over an old one"
    compare.add_arguments(command("compare", compare.run, text))
    text = "write report.html, post.md, table.csv and figures into the run folder"
    report.add_arguments(command("report", report.run, text))
    notebook.add_arguments(
        command("notebook", notebook.run, "copy the notebook that comes with the lab, and open it on a run")
    )
    host.add_commands(commands.add_parser("host", help="a narrow sudo: the lab's helper, put on a host and taken away"))
    local.add_commands(commands.add_parser("local", help="the embedded lab: two hosts on this Linux machine"))
    return root


def _open_streams() -> None:
    """Have all three standard streams, whoever closed them, and let them write what the terminal lacks as ``?``."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("r+"))  # noqa: SIM115  it stays
        elif isinstance(stream, io.TextIOWrapper) and name != "stdin":
            stream.reconfigure(errors="replace")


def _explain(error: OSError) -> str:
    """An error of the system, which names its file, but for standard output: that does not take another line either."""
    if error.filename is None:
        try:
            print(flush=True)
        except OSError as again:
            return f"standard output: {again.strerror}"
    return str(error)


def _give_up_output() -> None:
    """Let go of output that cannot be written, or Python tries once more when it ends, and fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    raise SystemExit(main())
