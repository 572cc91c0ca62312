"""The man page: groff takes it without a warning, and it has every command and option."""

import re
import shutil
import subprocess

import pytest
from support.paths import ROOT

from lab.cli.command import EXIT_CODES
from lab.cli.main import COMMANDS

PAGE = ROOT / "docs/reference/lab.1"


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_sets_it_without_a_warning() -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-P-c", str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "utf8/DESC" in done.stderr:  # a system with the formatter alone, for small pages
        pytest.skip("groff has no device for a terminal here")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(re.sub(".\b", "", done.stdout).replace("‐ ", "-").split())
    for name in COMMANDS:
        assert f" lab {name}" in text
    for option in ("--results DIR", "--fail-if", "--hosts FILE", "--resume RUN"):
        assert option in text
    assert all(f" {code} " in text for code in EXIT_CODES)


def test_no_line_of_text_is_a_request() -> None:
    """A line of roff that begins with a full stop or an apostrophe is obeyed."""
    macros = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".RI", ".BR", '.\\"'}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        assert line[:1] not in (".", "'") or line.split()[0] in macros, line
