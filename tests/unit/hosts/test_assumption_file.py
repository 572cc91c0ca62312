"""Files of assumptions: what is wrong in one is named by file, table and key."""

import re
from pathlib import Path

import pytest
from support.paths import ROOT

from lab.base.errors import BadInput
from lab.hosts.assumptions import Assumption, Risk, read_assumptions
from lab.hosts.command import shell_function

GOOD = {
    "what": '"sw_vers is there"', "ask": "'sw_vers'", "expected": "'ProductVersion:\\s+\\d+'",
    "source": '"man sw_vers"', "risk": '"no_run"', "breaks": '"nothing is known"',
}  # fmt: skip
SHOWN_BY_A_RUN = {"ask": "''", "expected": '"run a sweep ("'}
FILES = sorted((ROOT / "lab").glob("p*/**/*assumptions*.toml"))


def read(folder: Path, name: str = "sw-vers", **changes: str) -> Assumption:
    path = folder / "assumptions.toml"
    path.write_text("\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in {**GOOD, **changes}.items())]))
    read_assumptions.cache_clear()
    (only,) = read_assumptions(path)
    return only


def test_what_is_left_out_has_a_default_and_without_a_command_the_expected_is_prose(tmp_path: Path) -> None:
    assert read(tmp_path) == Assumption(
        name="sw-vers", what="sw_vers is there", ask="sw_vers", expected=r"ProductVersion:\s+\d+", source="man sw_vers",
        risk=Risk.NO_RUN, breaks="nothing is known",
    )  # fmt: skip
    assert read(tmp_path, **SHOWN_BY_A_RUN).expected == "run a sweep ("


def test_it_is_about_versions_and_may_call_perl_scripts_beside_the_file(tmp_path: Path) -> None:
    row = read(tmp_path, since='"10.9"', before='"27"', root="true", unverified="true")
    assert (row.since, row.before, row.root, row.unverified) == ((10, 9), (27, 0), True, True)
    (tmp_path / "hello.pl").write_text('# says hello\nprint "hello\\n";\n')
    row = read(tmp_path, perl_functions='{ hello = "hello.pl" }', ask="'''\nhello\n'''")
    assert row.ask == shell_function("hello", 'print "hello\\n";\n') + "hello"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"risk": '"awful"'}, "[sw-vers] risk: is none of left_behind, wrong_figures, no_run, no_protocol, told "),
        ({"risk": "1"}, "[sw-vers] risk: is none of left_behind"),
        ({"expected": "'(x'"}, "[sw-vers] expected: is no regular expression: missing )"),
        ({"expected": "'x*'"}, "[sw-vers] expected: is found in an empty output, too"),
        ({"since": '"11"', "before": '"10.15"'}, "[sw-vers] before: is no later version than since"),
        ({"since": "10.1"}, '[sw-vers] since: is no version, such as "10.15" or "27"'),
        ({"before": '"Catalina"'}, '[sw-vers] before: is no version, such as "10.15" or "27"'),
        ({"what": '""'}, "[sw-vers] what: String should have at least 1 character"),
        ({"root": '"yes"'}, "[sw-vers] root: Input should be a valid boolean"),
        ({"sinse": '"11"'}, "[sw-vers] sinse: unknown; what may stand here is what"),
        ({"root": "true", **SHOWN_BY_A_RUN}, "[sw-vers] ask: is missing; root and perl_functions are about a command"),
        ({"name": "SW_vers"}, "[SW_vers]: a name is small letters, digits and hyphens, at most 60"),
        ({"source": "man sw_vers"}, "not valid TOML: Invalid value (at line 5, column 10)"),
    ],
)
def test_what_is_wrong_is_named_by_file_table_and_key(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"{tmp_path / 'assumptions.toml'}: {message}")):
        read(tmp_path, **changes)


def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "assumptions.toml"
    path.write_text("[a]\nwhat = 'x'\nexpected = 'x'\nrisk = 'told'\nbreaks = 'x'\n")
    with pytest.raises(BadInput, match=r"assumptions\.toml: \[a\] source: missing"):
        read_assumptions(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_of_the_lab_can_be_read(path: Path) -> None:
    assert read_assumptions(path)
