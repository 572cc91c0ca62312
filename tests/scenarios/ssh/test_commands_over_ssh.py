"""Commands over SSH, against a real sshd: what is sent arrives as it was, and what comes back."""

from collections.abc import Callable

from unit.hosts.test_ssh_host import *  # noqa: F403 – over SSH by the fixtures of this folder

from lab.hosts.ssh import SshHost


def test_what_a_login_shell_says_is_not_taken_for_something_else(connect: Callable[..., SshHost]) -> None:
    result = connect("noisy").shell("echo out; echo err >&2; exit 3", check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "welcome\nerr\n")
