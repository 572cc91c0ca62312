"""An error as text, and at the terminal: its cause on one line, its remedy on a second, however long they are."""

import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base import errors
from lab.base.errors import CommandError, DeadlineExceeded, HostError, LabError, LabFailure, RestoreError, name_of
from lab.base.untrusted import first_line, one_line

TEXT = st.text(max_size=3000)
ARGV = st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=6)
HOST = st.sampled_from(["client", "server"])
MOST = 200  # characters of a line that says what a command did; of one in the lab's own words a hundred more
KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, LabError) and not issubclass(kind, CommandError | RestoreError)
]


def test_the_host_stands_first_and_the_remedy_last() -> None:
    error = HostError("no route", "is it on?", host="client")
    assert (error.host, error.message, error.remedy) == ("client", "no route", "is it on?")
    assert str(error) == "client: no route: is it on?"
    assert str(LabError("no route")) == "no route"
    failed = CommandError("server", ("ip", "x"), 2, "a\nb\n", "install ip")
    assert str(failed) == "server: ip x: exit code 2\n    a\n    b\ninstall ip"
    assert (failed.host, failed.message.splitlines()[0]) == ("server", "ip x: exit code 2")
    assert str(DeadlineExceeded("server", ("ip",), 3, "")) == "server: ip: did not end within 3 s and was ended"


def test_no_password_that_a_program_printed_is_in_it() -> None:
    printed = f"{'x' * 180} //ann:hunter2@nas/Films: no\n-o password=hunter2,vers=3"
    first = CommandError("client", ("mount", "//ann:hunter2@nas/x"), 1, printed, "not //ann:hunter2@nas/x")
    for error in (first, LabError(printed), RestoreError([printed])):
        for text in (str(error), error.brief(), error.on_one_line(), error.cause_first(), repr(error.args)):
            assert "hunter" not in text
    assert "hunter" not in first.output
    assert "hunter" not in first_line(printed, 190)


def test_the_cause_of_a_failed_command_can_stand_first_and_each_problem_has_a_line() -> None:
    error = CommandError("server", ("/bin/sh", "-c", "long script"), 2, "no such share\nmore\n", "make one")
    lines = ["server: no such share", "    more", "    exit code 2", "    of /bin/sh -c 'long script'", "make one"]
    assert error.cause_first() == "\n".join(lines)
    assert CommandError("server", ("ip",), 2, "").cause_first() == "server: exit code 2\n    of ip"
    late = DeadlineExceeded("server", ("ip",), 3, "half\n")
    assert late.cause_first() == "server: did not end within 3 s and was ended\n    half\n    of ip"
    assert HostError("no route", "is it on?", host="client").cause_first() == "client: no route: is it on?"
    problems = ("client: MTU should be 1500", "server: share stays")
    unrestored = RestoreError(list(problems))
    assert str(unrestored) == "\n".join(["not everything could be put back; `lab restore` tries again", *problems])
    assert unrestored.problems == problems


@given(kind=st.sampled_from(KINDS), message=TEXT, remedy=TEXT, host=st.sampled_from(["", "client", "server"]))
def test_any_error_is_a_line_and_its_remedy(kind: type[LabError], message: str, remedy: str, host: str) -> None:
    error = kind(message, remedy, host=host)
    lines = error.brief().split("\n")
    assert len(lines) <= 2
    assert max(map(len, lines[:1])) <= MOST + 110
    assert error.brief().startswith(host)
    whole = one_line(remedy)
    assert not whole or whole in lines or len(whole) > errors.LONGEST_REMEDY
    assert "\n" not in error.on_one_line()


@given(argv=ARGV, code=st.integers(1, 255), output=TEXT, remedy=st.text(max_size=300), host=HOST)
def test_a_failed_command_is_a_line(argv: list[str], code: int, output: str, remedy: str, host: str) -> None:
    first, *others = CommandError(host, argv, code, output, remedy).brief().split("\n")
    assert len(first) <= MOST
    assert first.startswith(f"{host}: {name_of(argv)}: exit code {code}")
    assert others == ([one_line(remedy)] if one_line(remedy) else [])
    last_line = one_line(output.rstrip().rpartition("\n")[2])
    assert first.endswith(last_line[-30:])


def test_a_script_with_long_output_and_a_command_without_an_exit_code_are_one_line_each() -> None:
    script = "# mount it\nset -e\n" + "mount -t cifs //nas/share /mnt\n" * 100
    output = "\n".join(f"line {number} " + "x" * 300 for number in range(6)) + "\nmount error(13): Permission denied"
    error = CommandError("client", ("/bin/sh", "-c", script, "sh", "a"), 32, output, "look at the password")
    assert len(str(error)) > 1500
    assert error.brief() == (
        "client: a script of the lab's: exit code 32: mount error(13): Permission denied\nlook at the password"
    )
    late = DeadlineExceeded("server", ("umount", "/mnt"), 30, "half\nof it\n")
    assert late.brief() == "server: umount /mnt: did not end within 30 s and was ended: of it"
    assert CommandError("server", ("cp",), None, "").brief() == "server: cp: the connection was lost"


def test_where_there_is_a_log_it_is_named() -> None:
    error = CommandError("client", ("ip",), 1, "no", "install ip")
    error.log = Path("results/x/commands.log")
    assert error.brief() == "client: ip: exit code 1: no\ninstall ip (details: results/x/commands.log)"
    silent = LabFailure("it printed nonsense", host="server")
    silent.log = error.log
    assert silent.brief().splitlines()[1] == "(details: results/x/commands.log)"


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("ip", "link", "show"), "ip link show"), (("cat", "x" * 100), "cat " + "x" * 55 + "…"),
        (("/bin/sh", "-c"), "/bin/sh -c"), (("/bin/sh", "-c", "command -v iperf3", "sh"), "command -v iperf3"),
        (("/bin/sh", "-c", "one\ntwo", "sh"), errors.A_SCRIPT), (("/bin/sh", "-c", "x" * 61), "a script of the lab's"),
        (("/bin/sh", "-c", '"$@" || :', "sh", "umount", "/mnt"), "umount /mnt"),
        (("/bin/sh", "-c", 'exec "$@"', "sh", "/bin/sh", "-c", '"$@" || :', "sh", "ls"), "ls"),
    ],
)  # fmt: skip
def test_the_name_of_a_command(argv: tuple[str, ...], name: str) -> None:
    assert name_of(argv) == name


def test_each_of_several_causes_is_whole() -> None:
    text = "\n".join(f"sweep.toml: key{number}: " + "wrong " * 70 for number in range(3))
    assert errors.BadInput(text, several=True).brief() == text
    assert errors.Unsupported("a\nb", several=True).brief() == "a\nb"
    assert HostError("a\nb").brief() == "a / b"


@given(text=TEXT, most=st.integers(20, 300))
def test_a_long_text_keeps_its_beginning_and_its_end(text: str, most: int) -> None:
    line, whole = errors.shorten(text, most), one_line(text)
    assert len(line) <= most
    assert line[:5] == whole[:5]
    assert line[-5:] == whole[-5:]
    assert line == whole or " … " in line
