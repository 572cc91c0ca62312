"""An account whose login shell is no relative of sh, over a real sshd."""

import shutil
from collections.abc import Iterator

import pytest
from support.sshd import OVER_BOTH, PROGRAM, Sshd, make_key

from lab.base.errors import DeadlineExceeded
from lab.hosts.ssh import SshHost

pytestmark = OVER_BOTH


@pytest.fixture
def host(sshd: Sshd) -> Iterator[SshHost]:
    """A host whose account has tcsh: sshd gives it the whole command as one word."""
    if PROGRAM and not shutil.which("tcsh"):  # the sshd of the local lab's root filesystem has it beside it
        pytest.skip("tcsh is not installed")
    key = sshd.folder / "tcsh"
    if not key.exists():
        public = make_key(key)
        with (sshd.folder / "authorized_keys").open("a") as file:
            file.write(f'command="exec tcsh -c \\"$SSH_ORIGINAL_COMMAND\\"" {public}\n')
    opened = SshHost("client", sshd.config("tcsh"))
    yield opened
    opened.close()


def test_words_scripts_and_standard_input_arrive(host: SshHost) -> None:
    assert host.run("printf", "%s", "a!b\n'c' \\n $HOME").stdout == "a!b\n'c' \\n $HOME"
    script = 'read -r line\n! false && echo "$line $1"'
    assert host.shell(script, "two\nlines", given="first\n").stdout == "first two\nlines\n"
    assert host.run("/bin/sh", "-c", "exit 3", check=False).exit_code == 3


def test_a_command_that_takes_too_long_is_ended_with_its_children(host: SshHost) -> None:
    with pytest.raises(DeadlineExceeded):
        host.shell("sleep 3333 &\nsleep 3333", deadline_s=1)
    assert host.shell("! pgrep -f '^sleep 333[3]$'").exit_code == 0
