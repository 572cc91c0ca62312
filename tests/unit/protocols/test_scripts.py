"""The scripts that drivers send to hosts: each begins as a shell reads it, and does what its first lines say."""

import shutil
import subprocess
from pathlib import Path

import pytest
from support.changed_scripts import changed
from support.fake_host import EmulatedHost
from support.paths import ROOT

from lab.hosts.mounts import in_table
from lab.protocols.mounts.gvfs import MOUNT, MOUNTABLE, SHOW
from lab.protocols.mounts.linux import UNMOUNT
from lab.protocols.nfs import knfsd
from lab.protocols.nfs.linux import START as START_GANESHA
from lab.protocols.nfs.macos import AWAIT, AWAIT_END, AWAIT_EXPORT
from lab.protocols.servers.unflushed import READ_FILTERS
from lab.protocols.smb.ksmbd import UNLOAD
from lab.protocols.ssh import MAKE_KEYS
from lab.run.case.sharing import IS_GONE

SCRIPTS = sorted(path for folder in ("protocols", "settings") for path in (ROOT / "lab" / folder).rglob("*.sh"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_begins_with_a_comment_and_parses(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
    subprocess.run(["sh", "-n", str(path)], check=True)


# It is ready once it has made the file ``bound``, and stays until what needs it has served
RPCBIND = ": > bound; looks=0; until [ -e served ] || [ $((looks += 1)) -gt 1000000 ]; do :; done"


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="reads the table of mounts of Linux")
def test_a_mount_that_is_gone_is_asked_to_go_once_and_one_that_stays_is_forced_and_hidden(tmp_path: Path) -> None:
    """The root of this machine stays, whatever the emulated umount is told. No clock is asked: somebody may set it."""
    host = EmulatedHost(tmp_path, {"umount": "", "sleep": ""}, ["sh", "grep", "cut"])
    host.shell(UNMOUNT, in_table("/no/such/mount"), "/no/such/mount")
    assert host.calls("umount") == ["umount /no/such/mount"]
    host.shell(UNMOUNT, in_table("/"), "/")
    asked, *forced, hidden = host.calls("umount")[2:]
    assert (asked, set(forced), hidden) == ("umount /", {"umount -f /"}, "umount -l /")
    assert 10 < len(forced) < 70  # some 20 s, of which each umount takes up to 5


# As gio 2.84 asks for the password of a share on SMB and AFP, on a file or pipe
ASKS = "echo 'Authentication Required'; echo 'Enter password for share “media” on “nas”:'; echo 'Password: '"
FAILS = "echo 'gio: smb://nas/media/: Failed to mount Windows share: No such file or directory' >&2; exit 2"

NO_FOLDER = "echo 'gio: nfs://nas/media: No such file or directory' >&2; exit 1"
MOUNTED = "echo 'gio: nfs://nas/media: Location is already mounted' >&2; exit 2"


@pytest.mark.parametrize(
    ("scheme", "gio", "code", "tries", "says"),
    [
        ("smb", f"{ASKS}; {ASKS}; exit 2", 77, 1, "gio mount smb://nas/media: it asked for the password again: the"),
        ("afp", f"{ASKS}; {ASKS}; exit 2", 77, 5, "gio mount afp://nas/media: it asked for the password again: the"),
        ("smb", f"{ASKS}; {FAILS}", 2, 5, "gio: smb://nas/media/: Failed to mount Windows share: No such file"),
        ("smb", "echo 'cannot start D-Bus' >&2; exit 3", 3, 5, "cannot start D-Bus"),
        ("smb", "exit 4", 4, 5, "gio mount smb://nas/media: exit code 4"),
        ("smb", "exit 124", 124, 1, "gio mount smb://nas/media: no answer in 60 s"),
        ("smb", "echo 'gio: not found' >&2; exit 127", 127, 1, "gio: not found"),
        ("smb", f"{ASKS}; exit 0", 0, 1, ""),
        ("nfs", "exit 0", 0, 2, ""),  # the second one looks at the folder
        ("nfs", f'[ "$1" = mount ] || {{ {NO_FOLDER}; }}', 2, 10, "gio: nfs://nas/media: No such file or directory"),
        ("nfs", f'[ "$1" = mount ] || {{ {NO_FOLDER}; }}; {MOUNTED}', 2, 10, "gio: nfs://nas/media: No such file or"),
    ],
)
def test_a_password_is_called_refused_only_if_gio_asked_for_it_again(
    tmp_path: Path, scheme: str, gio: str, code: int, tries: int, says: str
) -> None:
    host = EmulatedHost(tmp_path, {"gio": gio, "timeout": 'shift; "$@"', "sleep": ""}, ["sh", "grep"])
    done = host.shell(MOUNT, f"{scheme}://nas/media", given="secret\n", check=False)
    assert (done.exit_code, len(host.calls("gio"))) == (code, tries)
    assert done.stderr.startswith(says)
    assert ("password" in done.stderr) == (code == 77)


@pytest.mark.parametrize(
    ("says", "code"), [("Transport endpoint is not connected", 0), ("No such file or directory", 0), ("Stale", 1)]
)
def test_a_mount_is_gone_whose_program_was_killed_as_well(tmp_path: Path, says: str, code: int) -> None:
    host = EmulatedHost(tmp_path, {"ls": f"echo 'ls: cannot access /mnt: {says}' >&2; exit 2", "sleep": ""}, ["sh"])
    assert host.shell(IS_GONE, "/mnt", check=False).exit_code == code


def test_ksmbd_that_is_not_loaded_is_left_alone(tmp_path: Path) -> None:
    if Path("/sys/module/ksmbd").exists():
        pytest.skip("this machine has ksmbd loaded")
    host = EmulatedHost(tmp_path, {"modprobe": ""}, ["sh"])
    host.shell(UNLOAD)
    assert host.calls() == []


def test_exports_come_before_mountd_and_after_rpcbind(tmp_path: Path) -> None:
    commands = dict.fromkeys(("mount", "mkdir", "touch", "nfsdcld", "exportfs", "sleep"), "")
    host = EmulatedHost(tmp_path, commands | {"rpcbind": RPCBIND, "rpc.mountd": ": > served"}, ["sh"])
    host.shell(knfsd.START, "/lab/ram", "rw,sync", "[ -e bound ]", "20048")
    calls = host.calls("rpcbind", "exportfs", "rpc.mountd")
    assert calls == ["rpcbind -f -w", "exportfs -o rw,sync *:/lab/ram", "rpc.mountd -F -p 20048"]


def test_where_a_folder_cannot_be_hidden_nothing_of_nfs_starts(tmp_path: Path) -> None:
    commands = dict.fromkeys(("mkdir", "touch", "rpcbind", "nfsdcld", "exportfs", "rpc.mountd"), "")
    host = EmulatedHost(tmp_path, commands | {"mount": "exit 32"}, ["sh"])
    assert host.shell(knfsd.START, "/lab/ram", "rw", "true", "20048", check=False).exit_code == 32
    assert host.calls() == ["mount -t tmpfs -o mode=755 lab /var/lib/nfs"]


@pytest.mark.parametrize(("ready", "starts_rpcbind"), [("true", False), ("[ -e bound ]", True)])
def test_ganesha_brings_rpcbind_where_the_host_has_none(tmp_path: Path, ready: str, starts_rpcbind: bool) -> None:
    folder = tmp_path / "own"
    (folder / "upper").mkdir(parents=True)
    commands = {"mount": "", "mkdir": "", "sed": "", "sleep": "", "rpcbind": RPCBIND, "ganesha.nfsd": ": > served"}
    host = EmulatedHost(tmp_path, commands, ["sh"])
    host.shell("cd() { :; }\n" + START_GANESHA, str(folder), "conf", "pid", ready)
    assert bool(host.calls("rpcbind")) == starts_rpcbind
    assert host.calls("ganesha.nfsd") == ["ganesha.nfsd -F -L STDERR -N EVENT -f conf -p pid"]


@pytest.mark.parametrize(
    ("state", "target", "comes"), [("running", "running", True), ("not running", "running", False)]
)
def test_nfsd_is_waited_for_and_given_up(tmp_path: Path, state: str, target: str, comes: bool) -> None:
    host = EmulatedHost(tmp_path, {"nfsd": f"echo 'nfsd is {state}'", "sleep": ""}, ["sh", "grep"])
    result = host.shell(changed(AWAIT, ("-gt 300", "-gt 9")), target, check=False)
    assert (result.exit_code == 0) == comes
    assert ("nfsd is not running:" in result.stderr) != comes


def test_the_end_of_nfsd_is_not_waited_for_where_the_exports_stay_or_it_is_disabled(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {"nfsd": "echo nfsd service is disabled; echo nfsd is running"}, ["sh", "grep"])
    host.shell(AWAIT_END, "stopped", "/no/exports")
    host.shell(AWAIT_END, "stopped", str(tmp_path))
    assert host.calls("nfsd") == ["nfsd status"]


def test_an_export_is_there_once_it_is_not_offline(tmp_path: Path) -> None:
    rows = 'echo x >> tries; [ "$(grep -c x tries)" -gt 2 ] && echo "/lab 10.99.0.0" || echo "/lab <offline>"'
    host = EmulatedHost(tmp_path, {"showmount": rows, "nfsd": "", "sleep": ""}, ["sh", "grep"])
    host.shell(AWAIT_EXPORT, "/lab")
    assert len(host.calls("showmount")) == 3


@pytest.mark.parametrize("output", ["it broke", ""])
def test_a_share_whose_process_died_is_said_to_have(tmp_path: Path, output: str) -> None:
    commands = {"timeout": 'shift; "$@"', "gio": "echo 'The location is not mounted' >&2; exit 2"}
    commands["gvfsd-fuse"] = 'printf "%s" "$1" >&2; exit 1'
    host = EmulatedHost(tmp_path, commands, ["sh", "grep"])
    result = host.shell(SHOW, "smb://nas/share", "gvfsd-fuse", output, check=False)
    died = "gvfsd-fuse does not show smb://nas/share: the process of GVfs that mounted it has died"
    assert result.stderr.splitlines() == [died, output][: 2 if output else 1]


def test_a_session_of_gvfs_has_folders_that_are_its_own(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {"cp": "", "chrt": "exit 1", "env": ""}, ["sh", "mkdir"])
    host.shell(MOUNTABLE, str(tmp_path / "gvfs"))
    assert (tmp_path / "gvfs").stat().st_mode & 0o777 == 0o700
    assert host.calls("env") == ["env LD_PRELOAD=libmimalloc.so.3 true"]


@pytest.mark.parametrize(
    ("library", "real_time", "prefix"),
    [
        ("libmimalloc.so.3", True, "/usr/bin/env LD_PRELOAD=libmimalloc.so.3 /usr/bin/chrt -r 1 "),
        ("libmimalloc.so.2", False, "/usr/bin/env LD_PRELOAD=libmimalloc.so.2 "),
        ("", True, "/usr/bin/chrt -r 1 "),
        ("", False, ""),
    ],
)
def test_gvfs_of_afp_is_kept_from_its_use_after_free(
    tmp_path: Path, library: str, real_time: bool, prefix: str
) -> None:
    copy = 'for last; do :; done; for name in afp smb; do echo "Exec=/gvfsd-$name" > "$last/$name.mount"; done'
    preloads = f'[ "$1" = "LD_PRELOAD={library}" ] || echo "object cannot be preloaded: ignored" >&2'
    commands = {"cp": copy, "env": preloads, "chrt": "" if real_time else "exit 1"}
    host = EmulatedHost(tmp_path, commands, ["sh", "mkdir", "sed"])
    host.shell(MOUNTABLE, str(tmp_path / "gvfs"))
    written = {name: (tmp_path / f"gvfs/mountable/{name}.mount").read_text() for name in ("afp", "smb")}
    assert written == {"afp": f"Exec={prefix}/gvfsd-afp\n", "smb": "Exec=/gvfsd-smb\n"}


def test_keys_that_an_old_openssh_cannot_make_are_left_out(tmp_path: Path) -> None:
    make = '[ "$3" = rsa ] && { : > "$7"; echo "ssh-rsa AAAA" > "$7.pub"; }'
    host = EmulatedHost(tmp_path, {"ssh-keygen": make}, ["sh", "cat"])
    for _ in range(2):
        assert host.shell(MAKE_KEYS, str(tmp_path / "key")).stdout == "ssh-rsa AAAA\n"
    assert [call.split(" ")[3] for call in host.calls("ssh-keygen")] == ["ed25519", "rsa", "ed25519"]


@pytest.mark.skipif(not (Path("/proc/self/status").exists() and shutil.which("ps")), reason="needs Linux and ps")
def test_a_process_without_the_filter_flushes(tmp_path: Path) -> None:
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        (tmp_path / "identity").write_text(f"{process.pid}\n")
        host = EmulatedHost(tmp_path, {}, ["sh", "ps", "tr", "grep"])
        assert host.shell(READ_FILTERS, "identity", "sleep").stdout == "no\n"
        assert host.shell(READ_FILTERS, "identity", "other").stdout == ""
    finally:
        process.kill()
        process.wait()
