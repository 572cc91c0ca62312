"""A folder in the share of a Mac, where all accounts have one group: closed to all but who writes there, by a list."""

import subprocess
from collections.abc import Callable, Iterator

import pytest
from support.local_lab import Bench
from support.macs import run

from lab.platforms.files import CLOSE, REOPEN

FOLDER = "/Users/Shared/file-share-lab-0123456789abcdef"
PROOF = "file-share-lab-fedcba9876543210"
MAKE = f"mkdir -m 1777 {FOLDER} && chmod 1777 {FOLDER} && chown you {FOLDER} && touch {FOLDER}/{PROOF} && "
MAKE += f"chown lab {FOLDER}/{PROOF}"
NEIGHBOUR = "/linux/usr/bin/setpriv --reuid=599 --regid=20 --clear-groups"
WITHOUT_LISTS = """
mv /bin/chmod /bin/chmod.real
cat > /bin/chmod <<'END'
#!/bin/sh
case $* in *+a*) exit 1 ;; esac
exec /linux/usr/bin/chmod "$@"
END
/linux/usr/bin/chmod 755 /bin/chmod
"""


@pytest.fixture(scope="module", params=["macos@15.5", "macos@10.6"])
def mac(request: pytest.FixtureRequest, new_bench: Callable[..., Bench]) -> Bench:
    """The server is a Mac."""
    return new_bench("--platform", "client=linux", "--platform", f"server={request.param}")


@pytest.fixture
def folder(mac: Bench) -> Iterator[Bench]:
    """With the lab's folder in a share, where ``lab`` wrote a file by the share."""
    mac.inside("server", MAKE)
    yield mac
    mac.inside("server", f"rm -rf {FOLDER}")


def close(bench: Bench) -> subprocess.CompletedProcess[str]:
    words = ["/bin/sh", "-c", f'printf %s {PROOF} | /bin/sh -c "$@"', "sh", CLOSE, "sh", FOLDER, "you"]
    return bench.lab("local", "exec", "--name", bench.name, "server", "--", *words)


def plants(bench: Bench, name: str = "x") -> bool:
    """Whether another account of the same group can plant a file there."""
    return (
        run(bench, "server", f"{NEIGHBOUR} /bin/sh -c 'ln -s /etc/passwd {FOLDER}/{name}' 2>/dev/null").returncode == 0
    )


def test_the_account_of_the_share_alone_gets_in(folder: Bench) -> None:
    assert plants(folder, "before"), "nobody could get in before either: this test proves nothing"
    done = close(folder)
    assert (done.returncode, done.stdout) == (0, "list\n"), done.stderr
    assert not plants(folder)
    wrote = run(folder, "server", f"echo mine > {FOLDER}/b && mv {FOLDER}/b {FOLDER}/c && rm {FOLDER}/c", user=True)
    assert wrote.returncode == 0, wrote.stderr
    assert " 0: user:lab allow list,add_file,search," in folder.inside("server", f"ls -lde {FOLDER}")


def test_opened_again_nothing_of_the_list_is_left(folder: Bench) -> None:
    close(folder)
    folder.inside("server", f"chown root {FOLDER}")  # the script is its owner's
    reopened = run(folder, "server", REOPEN, FOLDER)
    assert reopened.returncode == 0, reopened.stderr
    assert folder.inside("server", f"ls -lde {FOLDER} | wc -l; stat -f %Lp {FOLDER}").split() == ["1", "777"]


def test_without_a_list_it_stays_open_and_that_is_said(folder: Bench) -> None:
    folder.inside("server", WITHOUT_LISTS)
    try:
        done = close(folder)
        assert (done.returncode, done.stdout) == (0, "open\n"), done.stderr
        assert plants(folder)
    finally:
        folder.inside("server", "mv /bin/chmod.real /bin/chmod")
