"""Targets that cannot be measured are refused at once, with what to give instead; a tunnel is only remarked."""

import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from support.checked_macs import machine
from support.fake_host import FakeHost

from lab.base.errors import BadInput
from lab.hosts.command import run_perl, script
from lab.measure.measure import check_results, find_room, read_link, tunnel_remark
from lab.measure.subject import Subject, check_elsewhere, check_offered, find_address, find_share, find_subject
from lab.measure.target import SshName
from lab.platforms import Facts, Platform
from lab.platforms.linux.network import ADDRESSES
from lab.platforms.linux.platform import Linux
from lab.platforms.mounts import ENTER
from lab.platforms.network import CONNECT, Medium, Radio
from lab.results.one_sided import ClientLink

TABLE = """\
/dev/sda2 / ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
systemd-1 /mnt/auto autofs rw 0 0
remote: /mnt/cloud fuse.rclone rw 0 0
gvfsd-fuse /run/user/1000/gvfs fuse.gvfsd-fuse rw 0 0
"""
SHARE = "//nas/media /mnt/nas cifs rw,addr=192.0.2.7 0 0\n"
MINE = "eth0\n\n2: eth0    inet 192.0.2.1/24 brd 192.0.2.255\n2: eth0    inet6 fe80::1/64 scope link\n"


def linux(folder: str, table: str) -> Linux:
    host = FakeHost()
    host.on(("cat", "/proc/self/mounts"), table, times=3)
    host.on(script(ENTER, folder), f"folder\n{folder}\n")
    return Linux(host)


def test_a_folder_on_a_share_leads_to_it() -> None:
    mounted = find_share(linux("/mnt/nas/films", TABLE + SHARE), "/mnt/nas/films")
    assert (mounted.protocol, mounted.address, mounted.path) == ("smb", "192.0.2.7", "/mnt/nas")


@pytest.mark.parametrize(
    ("folder", "complaint"),
    [
        ("/home/ann", "/home/ann is on a disk or in the memory of this machine (ext4), and on no share: "),
        ("/tmp/x", "(tmpfs), and on no share: "),
        ("/mnt/auto", "/mnt/auto has an automounter, and it mounts nothing there: "),
        ("/mnt/cloud", "/mnt/cloud is on fuse.rclone, which may be on a network; the lab knows shares of SMB, NFS, "),
        ("/run/user/1000/gvfs", "is where GVfs shows its shares, and none of them: give one of the folders in it"),
    ],
)
def test_a_folder_on_no_share_is_refused_with_its_file_system(folder: str, complaint: str) -> None:
    with pytest.raises(BadInput) as error:
        find_share(linux(folder, TABLE), folder)
    assert complaint in str(error.value)


def test_what_to_give_instead_is_what_is_mounted_here() -> None:
    with pytest.raises(BadInput, match=r"what is mounted here: /mnt/nas \(nas: media\)$"):
        find_share(linux("/home/ann", TABLE + SHARE), "/home/ann")
    with pytest.raises(BadInput, match=r"no share is mounted here: mount it, or give its URL, such as smb://"):
        find_share(linux("/home/ann", TABLE), "/home/ann")


@pytest.mark.parametrize("address", ["192.0.2.1", "127.0.0.1", "::1", "fe80::1%eth0", "FE80::1"])
def test_a_share_of_this_very_machine_is_refused(address: str) -> None:
    host = FakeHost()
    host.on(script(ADDRESSES), MINE, times=2)
    complaint = rf"the server nas \({address}\) is this machine itself: .* measure it from another machine"
    with pytest.raises(BadInput, match=complaint):
        check_elsewhere(Linux(host), "nas", address)
    check_elsewhere(Linux(host), "nas", "192.0.2.7")


def test_a_run_is_not_kept_on_the_share_that_it_measures(tmp_path: Path) -> None:
    subject = Subject("/mnt", "smb", "nas", "192.0.2.2", "192.0.2.1", cast(Facts, None), mounted=str(tmp_path))
    with pytest.raises(BadInput, match=f"^{tmp_path}/a/results is on the share itself, .* or name one by --results$"):
        check_results(subject, tmp_path / "a" / "results")
    check_results(subject, Path("/proc/results"))
    check_results(replace(subject, mounted=""), tmp_path)


def test_a_full_disk_of_this_machine_is_told_before_anything_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    mac = SimpleNamespace(name="macos", files=SimpleNamespace(free_bytes=lambda _: 30_000_000))
    message = r"^the disk of this machine with /home/ann has only 30 MB free: make room there: a test needs 67 MB$"
    with pytest.raises(BadInput, match=message):
        find_room(cast(Platform, mac), 8 << 30)


def test_a_server_is_found_by_name_address_or_service(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(name: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(name)
        if name.startswith("nowhere"):
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", ("192.0.2.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    assert [find_address(name) for name in ("nas", "My NAS._smb._tcp.local")] == ["192.0.2.7"] * 2
    assert asked == ["nas", "My-NAS.local"]
    message = r"the server nowhere is not to be found: .*Name or service not known.* is its name"
    with pytest.raises(BadInput, match=message):
        find_address("nowhere")
    with pytest.raises(BadInput, match=r"is its name right, .* Names in \.local take mDNS .* Its address may do$"):
        find_address("nowhere.local")
    message = "there is no such folder here, and the server nowhere is not to be found: .*; a share is //SERVER/SHARE$"
    with pytest.raises(BadInput, match=message):
        find_subject(SshName("nowhere"), Linux(FakeHost()))
    with pytest.raises(BadInput, match=r"^the server nowhere is not"):
        find_subject(SshName("nowhere", "ann"), Linux(FakeHost()))
    monkeypatch.undo()
    assert find_address("192.0.2.7") == "192.0.2.7"
    with pytest.raises(BadInput, match="not to be found"):
        find_address("x" * 70 + ".é")


@pytest.mark.parametrize(
    ("medium", "link"),
    [
        (Medium(False, "half"), ClientLink(interface="en0", bits_per_s=10**8, duplex="half", medium="wired", mtu=1500)),
        (Medium(True, None), ClientLink(interface="en0", bits_per_s=866 * 10**6, medium="wireless", mtu=1500)),
        (Medium(), ClientLink(interface="en0", bits_per_s=10**8, mtu=1500)),
        (Medium(False, "full", True), ClientLink(interface="en0", duplex="full", medium="wired", mtu=1500)),
    ],
)
def test_the_end_of_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, medium: Medium, link: ClientLink) -> None:
    mac = machine(tmp_path)
    assert mac.facts
    facts = replace(mac.facts, interface="en0", mtu=1500, link_bits_per_s=None if medium.wireless else 10**8)
    monkeypatch.setattr(mac.platform.network, "medium", lambda _: medium)
    monkeypatch.setattr(mac.platform.network, "radio", lambda _: Radio(866 * 10**6))
    assert read_link(mac.platform, facts) == replace(link, tunnel=False)


def test_a_tunnel_on_the_way_is_a_remark() -> None:
    tunnel, cable = (ClientLink(interface=name, tunnel=name == "utun3") for name in ("utun3", "en0"))
    assert "a tunnel, such as a VPN (utun3): its encryption" in tunnel_remark(tunnel)
    assert tunnel_remark(cable) == ""


def test_a_server_that_does_not_offer_the_protocol_is_refused_at_once() -> None:
    offering, other = FakeHost(), FakeHost()
    offering.on(run_perl(CONNECT, "192.0.2.7", "445"), "yes\n")
    check_offered(Linux(offering), "nas", "192.0.2.7", "smb", 445)
    other.on(run_perl(CONNECT, "192.0.2.7", "445"), "no\n")
    with pytest.raises(BadInput, match=r"the server nas \(192\.0\.2\.7\) does not answer at port 445, that of SMB: "):
        check_offered(Linux(other), "nas", "192.0.2.7", "smb", 445)
