"""The folder of a run in somebody else's share: made, told of and removed through the mount, and nothing else is."""

from pathlib import Path

import pytest
from support.fake_host import EmulatedHost
from support.pairs import STORE_NAME

from lab.hosts.command import script
from lab.protocols.share_folder import READ_SOURCE, ShareFolder, share_folder

REAL = ("sh", "sed", "tr", "cut", "cat", "mkdir", "rm", "sleep", "id")
LINUX = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n"
MACOS = "Filesystem    1024-blocks      Used Available Capacity  Mounted on\n"
SOURCES = {
    "//192.0.2.2/media": f"{LINUX}//192.0.2.2/media   976762584 51200000 925562584       6% /mnt/nas\n",
    "//192.0.2.2/my share 2": f"{LINUX}//192.0.2.2/my share 2   976762584 51200000 925562584   6% /mnt/nas\n",
    "gvfsd-fuse": f"{LINUX}gvfsd-fuse             0        0         0        - /run/user/1000/gvfs\n",
    "[fd00::1]:/srv/a b": f"{LINUX}[fd00::1]:/srv/a b      100       50        50      50% /mnt/a 1 2 3 4% /b\n",
    "//me@nas._smb._tcp.local/Time%20Machine": (
        f"{MACOS}//me@nas._smb._tcp.local/Time%20Machine   7809204224 51200 7809153024   1%  /Volumes/Time Machine\n"
    ),
    "map -hosts": f"{MACOS}map -hosts              0         0         0   100%    /net\n",
}


def client(folder: Path, table: str = SOURCES["//192.0.2.2/media"]) -> EmulatedHost:
    """A client where df prints a table."""
    folder.mkdir(exist_ok=True)
    (folder / "table").write_text(table)
    return EmulatedHost(folder, {"df": f"cat {folder}/table"}, REAL)


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    path = tmp_path / "mount"
    path.mkdir()
    return path


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_mounted_is_read_of_what_df_prints(tmp_path: Path, source: str) -> None:
    host = client(tmp_path, SOURCES[source])
    assert script(READ_SOURCE, str(tmp_path)).run(host) == source
    assert host.calls("df") == [f"df -P {tmp_path}"]


def test_of_a_df_that_fails_or_prints_what_no_journal_holds_nothing_is_taken(tmp_path: Path) -> None:
    for table in ("", LINUX, "garbage\nmore garbage\n"):
        assert script(READ_SOURCE, "/x").run(client(tmp_path / str(len(table)), table)) == ""
    odd = SOURCES["gvfsd-fuse"].replace("gvfsd", "gv\x1b[2J\x07é" + "x" * 600)
    assert len(script(READ_SOURCE, "/x").run(client(tmp_path / "odd", odd))) == 500


def test_it_is_made_for_its_account_alone_and_goes_with_what_it_holds(tmp_path: Path, mount: Path) -> None:
    host = client(tmp_path)
    made = share_folder("client", f"{mount}/{STORE_NAME}", "//192.0.2.2/media", of_lab=False)
    operation = made.operation
    assert operation.read().run(host) == "absent"
    for command in made.apply:
        assert STORE_NAME not in " ".join(command.argv)  # which every account may list before the folder is there
        command.run(host)
    assert operation.read().run(host) == "present"
    folder = mount / STORE_NAME
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "sub").mkdir()
    (folder / "sub" / "payload").write_text("x")
    (mount / "of others").write_text("x")
    for command in operation.undo("absent"):
        command.run(host)
    assert operation.read().run(host) == "absent"
    assert [path.name for path in mount.iterdir()] == ["of others"]
    for command in operation.undo("absent"):  # once more is no error
        command.run(host)


def test_a_folder_that_is_there_is_taken_only_again(tmp_path: Path, mount: Path) -> None:
    host = client(tmp_path)
    (mount / STORE_NAME).mkdir()
    for again, code in ((False, 1), (True, 0)):
        (command,) = share_folder("client", f"{mount}/{STORE_NAME}", "x", of_lab=True, again=again).apply
        assert host.run(*command.argv, given=command.given, check=False).exit_code == code


@pytest.mark.parametrize(("of_lab", "state", "code"), [(True, "absent", 0), (False, "unmounted", 1)])
def test_below_another_mount_all_stays(tmp_path: Path, mount: Path, of_lab: bool, state: str, code: int) -> None:
    host = client(tmp_path, SOURCES["gvfsd-fuse"])
    folder = mount / STORE_NAME
    folder.mkdir()
    operation = ShareFolder(str(folder), "//192.0.2.2/media", of_lab)
    assert operation.read().run(host) == state
    (command,) = operation.undo("absent")
    result = host.run(*command.argv, check=False)
    assert (result.exit_code, folder.is_dir()) == (code, True)
    assert ("the share is not mounted there any more" in result.stderr) == (not of_lab)
    folder.rmdir()
    mount.rmdir()  # and as little where nothing is
    assert operation.read().run(host) == state


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, mount: Path) -> None:
    host = client(tmp_path)
    target = tmp_path / "target"
    target.mkdir()
    (target / "precious").write_text("x")
    (mount / STORE_NAME).symlink_to(target)
    operation = ShareFolder(f"{mount}/{STORE_NAME}", "//192.0.2.2/media", of_lab=False)
    assert operation.read().run(host) == "absent"
    for command in operation.undo("absent"):
        command.run(host)
    assert (target / "precious").exists()
