"""Drivers on hosts that record what they are told: no password but where it belongs, nothing started uninvited."""

from pathlib import Path

import pytest
from support.fake_host import SECRET, Stage
from support.pairs import OWN

from lab.base.errors import Unsupported
from lab.protocols import Driver
from lab.protocols.afp.linux import AFP_CONF
from lab.protocols.mounts.gvfs import BUS_CONFIG
from lab.protocols.mounts.linux import LinuxMount
from lab.protocols.nfs.linux import GANESHA_CONF
from lab.protocols.smb.linux import SMB_CONF
from lab.protocols.ssh import SSHD_CONFIG
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal, Record

WAYS = [
    pytest.param(name, lacks, id=f"{name} without {' and '.join(lacks) or 'nothing'}")
    for name in ("afp", "smb", "nfs", "ssh")
    for lacks in ((), ("kernel",), ("mount_afpfs", "kernel"))
]


@pytest.mark.parametrize(("name", "lacks"), WAYS)
def test_a_password_goes_to_programs_on_their_input_alone(name: str, lacks: tuple[str, ...], tmp_path: Path) -> None:
    stage = Stage(name, lacks)
    taking = [argv for argv, given in stage.told() if SECRET in given]
    for argv, _ in stage.told():
        assert SECRET not in " ".join(argv)
    for argv in taking:
        words = " ".join(argv)
        assert "umask 077" in words or "gio mount" in words or argv[0] == "smbpasswd" or "mount_afpfs" in words
    assert (name in ("afp", "smb")) <= bool(taking) <= (name != "ssh")
    journal = Journal(tmp_path / "journal.jsonl", line_format())
    for number, setting in enumerate(stage.settings, 1):
        journal.intend(Record(number, setting.host, setting.operation, "absent", setting.wanted))
    assert SECRET not in (tmp_path / "journal.jsonl").read_text()
    assert SECRET not in repr([stage.attached, stage.share, stage.settings])


@pytest.mark.parametrize(("name", "lacks"), WAYS)
def test_every_setting_can_be_undone_and_a_share_that_was_there_has_none(name: str, lacks: tuple[str, ...]) -> None:
    stage = Stage(name, lacks, served=False)
    assert stage.hosts["server"].told == []
    assert {setting.host for setting in stage.settings} <= {"client"}
    settings = Stage(name, lacks).settings
    assert len({(setting.host, setting.name) for setting in settings}) == len(settings)
    assert len({(setting.host, setting.read) for setting in settings}) == len(settings)
    assert all(setting.operation.undo("absent") for setting in settings)


@pytest.mark.parametrize(
    ("name", "lacks", "mount"),
    [("smb", (), "kernel"), ("smb", ("kernel",), "gvfs"), ("nfs", (), "kernel"), ("nfs", ("kernel",), "gvfs"),
     ("afp", (), "mount_afpfs"), ("afp", ("mount_afpfs",), "gvfs"), ("ssh", (), "none")],
)  # fmt: skip
def test_the_way_it_is_mounted_is_said(name: str, lacks: tuple[str, ...], mount: str) -> None:
    attached = Stage(name, lacks).attached
    assert (attached.effective["mount"], bool(attached.remote_shell)) == (mount, name == "ssh")
    assert attached.path.startswith(f"{OWN}/" if name != "ssh" else f"me@192.0.2.2:{OWN}/ram")


@pytest.mark.parametrize("lack", ["gvfs", "gio", "dbus-daemon"])
@pytest.mark.parametrize("name", ["smb", "nfs", "afp"])
def test_a_client_that_can_do_neither_is_told_what_to_install(name: str, lack: str) -> None:
    with pytest.raises(Unsupported, match=r"client: no .*`apt-get install gvfs-backends gvfs-fuse libglib2.0-bin"):
        Stage(name, ("kernel", lack, "mount_afpfs"))


def test_what_no_dialect_can_is_said_and_not_guessed() -> None:
    stage = Stage("ssh")
    for steps in (Driver().serve(stage.server, stage.share), Driver().attach(stage.client, stage.server, stage.share)):
        with pytest.raises(Unsupported, match="on linux yet"):
            next(steps)


VALUES = {
    "port": 1, "mount_port": 2, "address": "192.0.2.2", "state": "/lab/state", "name": "share", "path": "/lab/ram",
    "account": "account", "user": "me", "bus": "/lab/bus", "sync": "strict sync = yes", "commit": "NFS_Commit = true;",
    "least": "NT1", "macs": "",
}  # fmt: skip


@pytest.mark.parametrize("template", [AFP_CONF, SMB_CONF, GANESHA_CONF, SSHD_CONFIG, BUS_CONFIG], ids=lambda t: t[:12])
def test_templates_are_filled_in_and_have_no_place_for_a_password(template: str) -> None:
    text = template.format(**VALUES)  # a placeholder beyond these, such as a password, would be an error
    assert "{name}" not in text
    assert (text.count("{"), "{" in text) == (text.count("}"), template == GANESHA_CONF)


def test_servers_of_the_labs_own_listen_on_the_data_address_alone() -> None:
    for name, line in (
        ("smb", "interfaces = 192.0.2.2\nbind interfaces only = yes\n"),
        ("afp", "afp listen = 192.0.2.2\n"),
        ("smb", "server min protocol = SMB2_02\n"),  # nobody asked for SMB 1
        ("nfs", "Bind_addr = 192.0.2.2;"),
        ("ssh", "ListenAddress 192.0.2.2\n"),
    ):
        written = [given for _, given in Stage(name).hosts["server"].told]
        assert any(line in given for given in written), name


def test_a_share_or_a_password_that_is_wrong_is_told_from_a_mount_that_another_try_may_bring() -> None:
    explain = LinuxMount().explain
    refused = "gio mount smb://lab@192.0.2.7/media: the password was refused\n"
    assert "account and its password" in explain(refused)
    for missing in (
        "gio: smb://nas/nosuch/: Failed to mount Windows share: No such file or directory\n",
        "gio: afp://lab@nas/nosuch/: Volume doesn\u2019t exist\n",
        "gio: nfs://nas/nosuch: Mount point does not exist\n",
    ):
        assert "name of the share" in explain(missing)
    assert explain("gvfsd-fuse does not show smb://nas/media: the process of GVfs that mounted it has died\n") == ""
    assert explain("ls: /mnt/nas: No such file or directory\n") == ""
