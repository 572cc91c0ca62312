"""What an error says of host, message and remedy, each as a field and all as text."""

from __future__ import annotations

from lab.base.errors import CommandError, DeadlineExceeded, HostError, LabError, RestoreError
from lab.base.untrusted import first_line


def test_the_text_has_the_host_first_and_the_remedy_last() -> None:
    error = HostError("no route", "is it on?", host="client")
    assert (error.host, error.message, error.remedy) == ("client", "no route", "is it on?")
    assert str(error) == "client: no route: is it on?"
    assert str(LabError("no route")) == "no route"


def test_the_remedy_of_a_command_stands_below_what_it_printed() -> None:
    error = CommandError("server", ("ip", "x"), 2, "a\nb\n", "install ip")
    assert str(error) == "server: ip x: exit code 2\n    a\n    b\ninstall ip"
    assert (error.host, error.message.splitlines()[0]) == ("server", "ip x: exit code 2")
    assert str(DeadlineExceeded("server", ("ip",), 3, "")) == "server: ip: did not end within 3 s and was ended"


def test_no_password_that_a_program_printed_is_in_it() -> None:
    printed = f"{'x' * 180} //ann:hunter2@nas/Films: no\n-o password=hunter2,vers=3"
    first = CommandError("client", ("mount", "//ann:hunter2@nas/x"), 1, printed, "not //ann:hunter2@nas/x")
    for error in (first, LabError(printed), RestoreError([printed])):
        for text in (str(error), error.brief(), error.on_one_line(), error.cause_first(), repr(error.args)):
            assert "hunter" not in text
    assert "hunter" not in first.output
    assert "hunter" not in first_line(printed, 190)


def test_the_cause_of_a_failed_command_can_stand_first() -> None:
    error = CommandError("server", ("/bin/sh", "-c", "long script"), 2, "no such share\nmore\n", "make one")
    assert error.cause_first() == (
        "server: no such share\n    more\n    exit code 2\n    of /bin/sh -c 'long script'\nmake one"
    )
    assert CommandError("server", ("ip",), 2, "").cause_first() == "server: exit code 2\n    of ip"
    late = DeadlineExceeded("server", ("ip",), 3, "half\n")
    assert late.cause_first() == "server: did not end within 3 s and was ended\n    half\n    of ip"
    assert HostError("no route", "is it on?", host="client").cause_first() == "client: no route: is it on?"


def test_what_could_not_be_put_back_has_a_line_each() -> None:
    error = RestoreError(["client: MTU should be 1500", "server: share stays"])
    assert str(error).splitlines() == [
        "not everything could be put back; `lab restore` tries again",
        "client: MTU should be 1500",
        "server: share stays",
    ]
    assert error.problems == ("client: MTU should be 1500", "server: share stays")
