"""Commands that are sent as one do what they do one by one."""

from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.base.errors import CommandError
from lab.hosts.command import Command, command, lenient, script, together


@pytest.fixture
def host(tmp_path: Path) -> EmulatedHost:
    return EmulatedHost(tmp_path, {}, ("sh", "cat", "touch", "false"))


def run(host: EmulatedHost, *steps: Command) -> list[str]:
    return [step.run(host) for step in together(steps)]


def test_what_has_the_same_rights_becomes_one_that_a_failure_ends_unless_it_does_not_count(host: EmulatedHost) -> None:
    say = script('echo "$1"', "it's one")
    assert run(host, say, say, script('echo "$1"', "$(two) `; two")) == ["$(two) `; two"]
    assert [step.root for step in together([say, say, script("", root=True), say])] == [False, True, False]
    with pytest.raises(CommandError, match="exit code 1"):
        run(host, command("false"), command("touch", "after"))
    assert not (host.folder / "after").exists()
    assert run(host, lenient(command("false")), command("touch", "after"), script("echo done")) == ["done"]
    assert (host.folder / "after").exists()


def test_standard_input_goes_to_the_one_that_it_is_for_and_deadlines_add_up(host: EmulatedHost) -> None:
    secret = command("cat", given="secret")
    assert run(host, script("echo a"), secret, secret, script("echo b")) == ["a", "secret", "secret", "b"]
    assert together([]) == []
    assert together([command("a")]) == [command("a")]
    assert [step.deadline_s for step in together([command("a", deadline_s=5), command("b", deadline_s=7)])] == [12]
