"""Perl on hosts: commands that run a Perl script, and the remedy for a Mac without perl.

Perl comes with macOS 10.6 to 26, and with every Linux on which such a script runs.
"""

import re
import shlex

NO_PERL = re.compile(r"\bperl: (command )?not found|\benv: '?perl'?: No such file")
NO_PERL_ON_MAC = (
    "the lab needs /usr/bin/perl there, which comes with macOS up to 26: reinstall macOS, or measure from another Mac"
)


def run_perl(text: str, *args: str) -> tuple[str, ...]:
    """The command line that runs a Perl script."""
    return ("perl", "-e", text, "--", *args)


def shell_function(name: str, text: str) -> str:
    """A shell function that runs a Perl script with its own arguments."""
    return f'{name}() {{ perl -e {shlex.quote(text)} -- "$@"; }}\n'
