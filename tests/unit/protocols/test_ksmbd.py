"""ksmbd: what is asked of a host before it is used, what it is told, and what its connections say."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.paths import LINUX_CAPTURES
from support.recording_host import SECRET, Stage
from support.sides import OWN, side_of

from lab.base.errors import LabFailure, Unsupported
from lab.hosts.mount_reports import parse_signed
from lab.protocols import Share, Side
from lab.protocols.smb.ksmbd import SERVER, find_refusal, parse_interface, serve
from lab.protocols.smb.macos import SMB1

# `ip -o address show to 10.99.0.2` of a guest
ADDRESSES = "4: eth0    inet 10.99.0.2/24 scope global eth0\\       valid_lft forever preferred_lft forever\n"


def share(path: str = f"{OWN}/ram", server_sync: str = "default", old_dialect: str = "", **options: str) -> Share:
    return Share(path, "lab", "lab", SecretStr(SECRET), True, server_sync, old_dialect, options)


def asked(host: FakeHost, answer: str = "") -> Side:
    """A server that says what there is of ksmbd."""
    side = side_of(host, "linux", "10.99.0.2", OWN, "me")
    if answer:
        host.on(SERVER.read_state(side), f"{answer}\n")
    return side


@pytest.mark.parametrize(
    ("answer", "why"),
    [("free", ""), ("shared", "others share this host's kernel"), ("unknown", "the kernel has no ksmbd")],
)
def test_a_host_that_will_never_have_it_is_told_from_one_that_has(answer: str, why: str) -> None:
    said = find_refusal(asked(FakeHost("server"), answer), share())
    assert said.startswith(why) if why else said == ""


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        ("lacks ksmbd.adduser", "no ksmbd.adduser: .*dpkg-deb -x"),
        ("loaded", "`modprobe -r ksmbd`"),
        ("port", "listens on port 445: stop it"),
    ],
)
def test_what_a_person_can_mend_is_said_with_the_remedy(answer: str, remedy: str) -> None:
    with pytest.raises(Unsupported, match=f"^server: .*{remedy}"):
        find_refusal(asked(FakeHost("server"), answer), share())


@pytest.mark.parametrize("level", ["async", "always"])
def test_it_has_one_durability(level: str) -> None:
    assert "cannot be told otherwise" in find_refusal(asked(FakeHost("server")), share(server_sync=level))
    assert find_refusal(asked(FakeHost("server"), "free"), share(server_sync="sync")) == ""


def test_it_has_no_dialect_below_2_1() -> None:
    assert "no SMB below 2.1" in find_refusal(asked(FakeHost("server")), share(dialect="2.0.2"))
    with pytest.raises(Unsupported, match="server: ksmbd does not speak "):
        next(serve(asked(FakeHost("server")), share(old_dialect=SMB1)))


@pytest.mark.parametrize("path", ["/a;b", "/a#b"])
def test_a_folder_that_its_settings_would_cut_short_is_refused(path: str) -> None:
    assert "begins a comment" in find_refusal(asked(FakeHost("server")), share(path))


def test_the_interface_of_the_data_address_is_read() -> None:
    assert parse_interface(ADDRESSES) == "eth0"


@pytest.mark.parametrize("text", ["", "\n", ADDRESSES * 2, "4: eth0 eth1\n", "4: $(id)    inet 10.99.0.2/24 x\n"])
def test_any_other_answer_about_it_is_an_error(text: str) -> None:
    with pytest.raises(LabFailure, match="not on one interface"):
        parse_interface(text)


def test_the_clients_kernel_says_whether_its_connection_is_signed() -> None:
    for said, signed in {"signed": "true", "unsigned": "false"}.items():
        text = (LINUX_CAPTURES / f"cifs-debugdata-ksmbd-{said}.txt").read_text(encoding="utf-8")
        assert parse_signed(text, r"\\10.99.0.2\lab") == signed


def test_the_password_goes_to_ksmbd_adduser_on_its_input_alone() -> None:
    told = Stage("smb", server="ksmbd").hosts["server"].told
    assert [argv[0] for argv, given in told if SECRET in given] == ["ksmbd.adduser"]
    assert not any(SECRET in " ".join(argv) for argv, _ in told)


def test_it_listens_on_the_interface_of_the_data_address_alone_and_is_put_back_module_last() -> None:
    stage = Stage("smb", server="ksmbd")
    written = [given for _, given in stage.hosts["server"].told]
    assert any("bind interfaces only = yes\ninterfaces = eth0\ntcp port = 445\n" in given for given in written)
    assert [setting.name for setting in stage.settings if setting.host == "server"] == [
        "kernel module ksmbd",
        "process ksmbd.mountd",
    ]
    assert "signing" not in stage.attached.effective  # of which only Samba's own report speaks
