"""Servers of a Linux kernel: whether they are free, what they are told, and what reads back."""

from pathlib import Path

import pytest
from support.fake_host import SECRET, EmulatedHost, FakeHost, Stage
from support.pairs import OWN, share_of, side_of

from lab import protocols
from lab.base.errors import LabFailure, Unsupported
from lab.hosts import Host, systems
from lab.protocols import Side
from lab.protocols.nfs import knfsd
from lab.protocols.servers.kernel_server import KernelServer
from lab.protocols.smb import ksmbd
from lab.protocols.smb.macos import SMB1

SERVER = KernelServer(
    name="file server",
    has="[ -e module ]",
    write_holder=lambda listening: f'if {listening(111)}; then echo taken; exit; fi; read -r who <state; echo "$who"',
    programs=("serve", "export", "login"),
    package="them",
    refusals={"taken": ("somebody has it", "ask them")},
)
# as exportfs of Debian 13 writes it into /var/lib/nfs/etab
LINE = (
    "/srv/disk\t*(rw,{level},wdelay,hide,nocrossmnt,insecure,no_root_squash,no_all_squash,no_subtree_check,"
    "secure_locks,acl,no_pnfs,fsid=77,anonuid=65534,anongid=65534,sec=sys,rw,no_root_squash,no_all_squash)\n"
)
# `ip -o address show to 10.99.0.2` of a guest
ADDRESSES = "4: eth0    inet 10.99.0.2/24 scope global eth0\\       valid_lft forever preferred_lft forever\n"
NFS, SMB = (protocols.find(name).driver("linux") for name in ("nfs", "smb"))


def side(host: Host) -> Side:
    return side_of(host, "linux", "10.99.0.2", OWN, "me")


def asked(server: KernelServer, answer: str) -> Side:
    """A host that gives this answer about the server in its kernel, as often as it is asked."""
    host = FakeHost("server")
    host.on(server.read_state(side(host)), f"{answer}\n", times=9)
    host.on(systems.ask(), "apt-get\n")
    return side(host)


@pytest.fixture
def host(tmp_path: Path) -> EmulatedHost:
    """A host whose own kernel has the server, free and with all of its programs; no others are found."""
    (tmp_path / "module").touch()
    (tmp_path / "state").write_text("free\n")
    return EmulatedHost(tmp_path, {"cat": "echo kthreadd"} | dict.fromkeys(SERVER.programs, "exit 1"), ["sh"], "server")


def test_one_is_free_lacks_programs_or_can_never_be_there(host: EmulatedHost) -> None:
    assert SERVER.is_free(side(host))
    assert SERVER.find_refusal(side(host)) == ""
    assert host.calls(*SERVER.programs) == []
    for name in ("serve", "login"):
        (host.folder / "bin" / name).unlink()
    with pytest.raises(Unsupported, match=r"^server: no serve, login: install what Debian calls them there$"):
        SERVER.find_refusal(side(host))
    assert not SERVER.is_free(side(host))
    (host.folder / "module").unlink()  # programs would help nobody then
    assert SERVER.find_refusal(side(host)) == "the kernel has no file server"
    (host.folder / "bin" / "cat").write_text("#!/bin/sh\necho bash\n")
    assert SERVER.find_refusal(side(host)) == "others share this host's kernel, which has one file server for all"
    assert not SERVER.is_free(side(host))


@pytest.mark.parametrize(("file", "content"), [("state", "taken\n"), ("port-111", "")])
def test_one_that_somebody_has_or_whose_port_is_taken_is_told(host: EmulatedHost, file: str, content: str) -> None:
    (host.folder / file).write_text(content)
    with pytest.raises(Unsupported, match=r"^server: somebody has it: ask them$"):
        SERVER.find_refusal(side(host))
    assert not SERVER.is_free(side(host))


@pytest.mark.parametrize("answer", ["", "maybe", "freely"])
def test_any_other_answer_is_an_error(answer: str) -> None:
    assert not SERVER.is_free(asked(SERVER, answer))
    with pytest.raises(LabFailure, match="server: whether its file server is free cannot be told: '"):
        SERVER.find_refusal(asked(SERVER, answer))


def test_the_level_of_the_export_is_read_and_any_other_table_is_an_error() -> None:
    for level in ("sync", "async"):
        assert knfsd.parse_export(LINE.format(level=level)) == level
    for table in ("", "\n", LINE.format(level="maybe"), LINE.format(level="sync") * 2, "/x\t*(ro)\n"):
        with pytest.raises(Unsupported, match="not as the lab wrote it"):
            knfsd.parse_export(table)


@pytest.mark.parametrize("options", [{}, {"server": "kernel"}])
@pytest.mark.parametrize("level", ["default", "sync", "async"])
def test_the_durabilities_that_it_can_give_are_told_from_the_others(level: str, options: dict[str, str]) -> None:
    server = asked(knfsd.SERVER, "free")
    assert NFS.cannot_serve(server, share_of(server_sync=level, **options)) == ""
    refusal = NFS.cannot_serve(server, share_of(server_sync="always", **options))
    assert "writes through only for clients that ask" in refusal
    assert NFS.needs_to_serve(server, options) == {}


@pytest.mark.parametrize("answer", ["shared", "unknown", "lacks rpcbind", "rpcbind", "serving", ""])
def test_where_nobody_named_it_ganesha_serves_instead(answer: str) -> None:
    server = asked(knfsd.SERVER, answer)
    assert NFS.cannot_serve(server, share_of(server_sync="always")) == ""
    assert "ganesha.nfsd" in NFS.needs_to_serve(server, {})
    assert NFS.served_by(server, "lab") == "ganesha.nfsd"
    refusal = NFS.cannot_serve(asked(knfsd.SERVER, "shared"), share_of(server="kernel"))  # whoever named it
    assert "one NFS server for all" in refusal


@pytest.mark.parametrize(
    ("server", "answer", "remedy"),
    [
        (knfsd.SERVER, "lacks rpc.nfsd rpcbind", "no rpc.nfsd, rpcbind: `apt-get install nfs-kernel-server`"),
        (knfsd.SERVER, "rpcbind", "rpcbind runs already, .*: `systemctl stop rpcbind.socket rpcbind`"),
        (knfsd.SERVER, "serving", "serves somebody already: `systemctl stop nfs-server`"),
        (ksmbd.SERVER, "lacks ksmbd.adduser", "no ksmbd.adduser: `apt-get install ksmbd-tools` .*dpkg-deb -x"),
        (ksmbd.SERVER, "loaded", "`modprobe -r ksmbd`"),
        (ksmbd.SERVER, "port", "listens on port 445: stop it"),
    ],
)
def test_what_a_person_can_mend_is_said_with_the_remedy(server: KernelServer, answer: str, remedy: str) -> None:
    driver, name = (NFS, "kernel") if server is knfsd.SERVER else (SMB, "ksmbd")
    with pytest.raises(Unsupported, match=f"^server: .*{remedy}"):
        driver.cannot_serve(asked(server, answer), share_of(server=name))


def test_ksmbd_says_where_it_will_never_be_and_what_it_cannot_give_before_the_host_is_asked() -> None:
    assert ksmbd.find_refusal(asked(ksmbd.SERVER, "free"), share_of()) == ""
    for answer, why in {"shared": "others share this host's kernel", "unknown": "the kernel has no ksmbd"}.items():
        assert ksmbd.find_refusal(asked(ksmbd.SERVER, answer), share_of()).startswith(why)
    server = side(FakeHost("server"))
    for level in ("async", "always"):
        assert "cannot be told otherwise" in ksmbd.find_refusal(server, share_of(server_sync=level))
    assert "no SMB below 2.1" in ksmbd.find_refusal(server, share_of(dialect="2.0.2"))
    for path in ("/a;b", "/a#b"):  # its settings would cut the path short
        assert "begins a comment" in ksmbd.find_refusal(server, share_of(path))


def test_ksmbd_flushes_for_clients_speaks_no_smb_1_and_is_on_one_interface() -> None:
    assert ksmbd.find_refusal(asked(ksmbd.SERVER, "free"), share_of(server_sync="sync")) == ""
    with pytest.raises(Unsupported, match="server: ksmbd does not speak "):
        next(ksmbd.serve(side(FakeHost("server")), share_of(old_dialect=SMB1)))
    assert ksmbd.parse_interface(ADDRESSES) == "eth0"
    for text in ("", "\n", ADDRESSES * 2, "4: eth0 eth1\n", "4: $(id)    inet 10.99.0.2/24 x\n"):
        with pytest.raises(LabFailure, match="not on one interface"):
            ksmbd.parse_interface(text)


def test_ksmbd_listens_on_the_data_interface_alone_gets_its_password_by_input_and_is_put_back_module_last() -> None:
    stage = Stage("smb", server="ksmbd")
    commands = stage.hosts["server"].told
    assert [argv[0] for argv, given in commands if SECRET in given] == ["ksmbd.adduser"]
    assert not any(SECRET in " ".join(argv) for argv, _ in commands)
    assert any("bind interfaces only = yes\ninterfaces = eth0\ntcp port = 445\n" in given for _, given in commands)
    names = [setting.name for setting in stage.settings if setting.host == "server"]
    assert names == ["kernel module ksmbd", "process ksmbd.mountd"]
    assert "signing" not in stage.attached.effective  # of which only Samba's own report speaks
