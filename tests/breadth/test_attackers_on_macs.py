"""Two Macs under attack: a user without rights gets nothing of root, and no neighbour gets into a folder in a share."""

import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest
from support.attackers import ON_A_MAC, attacked, daemon_of_roots, root_files
from support.local_lab import Bench, succeeded
from support.macs import run

from lab.platforms.files import CLOSE, REOPEN


@pytest.fixture(scope="module")
def pair(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench("--platform", "macos@10.15")


@pytest.mark.parametrize("attack", ["first", "swap", "plant"])
def test_a_run_under_attack_gives_nothing_of_roots_away(pair: Bench, attack: str) -> None:
    """Emulated Macs follow fs.protected_symlinks of this machine, unlike Macs: with 1 this test proves less."""
    shutil.rmtree(pair.directory / "results", ignore_errors=True)
    before = root_files(pair, ON_A_MAC)
    with attacked(pair, attack, ON_A_MAC) as booty:
        done = pair.run(protocol=["nfs", "ssh"], direction=["write"], size="1 MiB")
        restored = pair.lab("restore", "--hosts", str(pair.hosts))
    assert root_files(pair, ON_A_MAC) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert {trial["status"] for trial in pair.trials()} == {"ok"}
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
    if attack == "first":
        assert not [line for line in booty if "/private/var/db" in line], booty
    if attack != "plant":
        assert any("/tmp/file-share-lab" in line for line in booty), "the attacker was not at work"


@pytest.mark.parametrize("user", [65534, 502])
def test_no_daemon_ends_because_one_of_its_processes_has_the_words_of_the_lab(pair: Bench, user: int) -> None:
    with daemon_of_roots(pair, "client", user):
        restored = pair.lab("restore", "--hosts", str(pair.hosts))
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr


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
    return new_bench("--platform", "client=linux", "--platform", f"server={request.param}")


@pytest.fixture
def folder(mac: Bench) -> Iterator[Bench]:
    """The lab's folder in a share, with a file that the account ``lab`` wrote through the share."""
    mac.inside("server", MAKE)
    yield mac
    mac.inside("server", f"rm -rf {FOLDER}")


def close(bench: Bench) -> subprocess.CompletedProcess[str]:
    words = ["/bin/sh", "-c", f'printf %s {PROOF} | /bin/sh -c "$@"', "sh", CLOSE, "sh", FOLDER, "you"]
    return bench.lab("local", "exec", "--name", bench.name, "server", "--", *words)


def plants(bench: Bench, name: str = "x") -> bool:
    """Whether another account of the same group can plant a file there."""
    plant = f"{NEIGHBOUR} /bin/sh -c 'ln -s /etc/passwd {FOLDER}/{name}' 2>/dev/null"
    return run(bench, "server", plant).returncode == 0


def test_the_account_of_the_share_alone_gets_in(folder: Bench) -> None:
    assert plants(folder, "before"), "nobody could get in before either: this test proves nothing"
    done = close(folder)
    assert (done.returncode, done.stdout) == (0, "list\n"), done.stderr
    assert not plants(folder)
    write = f"echo mine > {FOLDER}/b && mv {FOLDER}/b {FOLDER}/c && rm {FOLDER}/c"
    succeeded(run(folder, "server", write, user=True))
    assert " 0: user:lab allow list,add_file,search," in folder.inside("server", f"ls -lde {FOLDER}")


def test_opened_again_nothing_of_the_list_is_left(folder: Bench) -> None:
    close(folder)
    folder.inside("server", f"chown root {FOLDER}")  # the script runs as the owner
    succeeded(run(folder, "server", REOPEN, FOLDER))
    assert folder.inside("server", f"ls -lde {FOLDER} | wc -l; stat -f %Lp {FOLDER}").split() == ["1", "777"]


def test_without_a_list_it_stays_open_and_that_is_said(folder: Bench) -> None:
    with folder.changed("server", WITHOUT_LISTS, "mv /bin/chmod.real /bin/chmod"):
        done = close(folder)
        assert (done.returncode, done.stdout) == (0, "open\n"), done.stderr
        assert plants(folder)
