"""What must not reach strangers, planted in outputs and messages: each is masked, the same always in the same way."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import bounded
from support.paths import MACOS_CAPTURES, ROOT
from support.planted_messages import BESIDE, NAMED, PASSWORDS, PLAIN, WITH_PASSWORDS

from lab.base.masking import MOST_NAMES, Masker
from lab.base.secret_texts import MASK
from lab.hosts.mounts import parse_mounts
from lab.platforms.macos.parsers import parse_ifconfig, parse_images
from lab.protocols.servers.macos_sharing import parse_share_points

UUID = "9A3F2B11-77C0-4D21-9D5E-0123456789AB"


def masked(text: str, **known: str) -> str:
    masker = Masker()
    for kind, name in known.items():
        masker.know(kind, name)
    masker.learn(text)
    return masker.mask(text)


@pytest.mark.parametrize(
    ("text", "secret", "mask"),
    [
        ("inet 192.168.77.12 netmask 0xffffff00", "192.168.77.12", "inet 192.0.2.1 netmask 0xffffff00"),
        ("tcp4 0 0 10.1.2.3.445 *.*", "10.1.2.3", "192.0.2.1.445"),
        ("en0 1500 10.10.251/24 x", "10.10.251", "192.0.2.1"), ("Network 192.168.77 link", "192.168.77", "192.0.2.1"),
        ("inet6 2a02:8109:9c40::1 prefixlen 64", "8109", "2001:db8::1 prefixlen"),
        ("inet6 fe80::1c3a:2ff:fe11:2%en0", "1c3a", "fe80::1%en0"), ("en0 1500 fe80:4::1c3a:", "1c3a", "fe80::1"),
        ("from ::ffff:192.168.77.12 port", "192.168", "from 2001:db8::1 port"),
        ("ether 3c:07:54:aa:bb:cc", "54", "ether 02:00:00:00:00:01"),
        ("(3c:7:54:a:b:cc) at", "54", "02:00:00:00:00:01"), ("lladdr 3C-07-54-AA-BB-CC", "54", "02:00:00:00:00:01"),
        ("lladdr 00:11:22:ff:fe:33:44:55 firewire", "22", "2001:db8::1"),
        ("node 3c0754aabbcc.", "3c0754", "02:00:00:00:00:01."),
        (f"volume {UUID} of", UUID, "00000000-0000-4000-8000-000000000001"),
        (f"volume {UUID.lower()} of", UUID.lower(), "00000000-0000-4000-8000-000000000001"),
        ('"IOPlatformSerialNumber" = "C02XK1"', "C02XK1", "serial-1"),
        ("Serial Number (system): FVFXC2ABQ6L4", "FVFXC2ABQ6L4", "serial-1"),
        ("disk FVFXC2ABQ6L4 there", "FVFXC2ABQ6L4", "serial-1"),
        ("open /Users/jane/Secret Plan/my.dmg: no", "Secret", "/Users/user-1/path-1/path-2: no"),
        ("open /Users/jane/Secret Plan/my.dmg: no", "jane", "/Users/user-1"),
        ("/dev/disk2 on /Volumes/Big Raid (hfs, local)", "Raid", "/Volumes/volume-1 (hfs, local)"),
        ("<string>/Volumes/Big Raid</string>", "Raid", "<string>/Volumes/volume-1</string>"),
        ("//jane@nas/My%20Films on /Volumes/My Films (smbfs)", "Films", "//user-1@host-1/share-1 on /Volumes/share-1"),
        ("//jane:pass@nas/x on /Volumes/x (smbfs, mounted by joe)", "joe", "mounted by user-"),
        ("nas:/export/films on /Volumes/f (nfs)", "nas", "host-1:/path-1 on /Volumes/path-2 (nfs)"),
        ("/Volumes/f from nas:/films", "films", "from host-1:/path-2"),
        ("name:\t\tJane's Folder\npath:\t/x", "Jane", "name:\t\tshare-1"),
        ("Films\n      SERVER_NAME    nas\n", "Films", "share-1\n"), ("ping nas.local. and", "nas", "ping host-1. and"),
        ("login jane.doe@firm.example ok", "firm", "mail-1@domain-1 ok"),
        ("/private/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T", "zyx", "/var/folders/zz/folder-1/T"),
    ],
)  # fmt: skip
def test_what_is_masked_wherever_it_stands(text: str, secret: str, mask: str) -> None:
    shown = masked(text)
    assert secret not in shown
    assert mask in shown


@pytest.mark.parametrize(
    ("kind", "name", "spelled"),
    [
        ("host", "Jane's Mac mini", "Jane&#x27;s Mac mini"), ("host", "Jane's Mac mini", "Jane's%20Mac%20mini"),
        ("host", "Jane's Mac mini", "JANE'S MAC MINI"), ("host", "mini.firm.example", "mini"),
        ("user", "jürgen", "ju\N{COMBINING DIAERESIS}rgen"), ("person", "Jane Doe", '"Jane Doe"'),
        ("volume", "Big Raid", r"Big\ Raid"), ("volume", "Big Raid", r"Big\040Raid"), ("share", "films", "afp_films"),
        ("volume", "backup 10.0.0.5", "backup 10.0.0.5"),
    ],
)  # fmt: skip
def test_a_name_is_masked_in_each_of_its_spellings(kind: str, name: str, spelled: str) -> None:
    masker = Masker()
    masker.know(kind, name)
    shown = masker.mask(f"there is {spelled}, and {name}")
    assert re.search(rf"there is .*{kind}-1\W.*and {kind}-1$", shown), shown


@pytest.mark.parametrize("text", NAMED)
def test_no_name_is_left_in_a_message_of_a_program(text: str) -> None:
    shown = masked(text)
    assert [name for name in NAMED[text] if name.casefold() in shown.casefold()] == []
    assert masked(shown) == shown  # twice changes nothing more


@pytest.mark.parametrize("text", WITH_PASSWORDS)
def test_nor_is_a_password_or_a_name_beside_one(text: str) -> None:
    shown = masked(text)
    assert [secret for secret in (*PASSWORDS, *BESIDE) if secret in shown] == []
    assert MASK in shown
    assert masked(shown) == shown


EVERY_MAC = [
    "127.0.0.1 0.0.0.0 255.255.255.0 ::1 192.0.2.255",
    "<key>content-hint</key> 48465300-0000-11AA-AA11-00306543ECAC",
    "at 10:15:30 macOS 15.5 (24F74), 10.13.6, iperf 3.18, SALTED-SHA512-PBKDF2 0x0000abcd12345678",
    "net.local.stream.sendspace: 8192 com.apple.smbd ff:ff:ff:ff:ff:ff",
    "/Users /Volumes /Users/Shared: root:wheel /Volumes/Macintosh HD (apfs)",
]
SWEEPS = [path.read_text() for path in sorted((ROOT / "sweeps").glob("*.toml"))]


@pytest.mark.parametrize("text", [*PLAIN, *EVERY_MAC, *SWEEPS], ids=lambda text: text[:20])
def test_a_text_without_names_stays(text: str) -> None:
    assert masked(text) == text


NAMES = st.from_regex(r"[b-df-hj-np-tv-z]{3}[a-z]{3,8}q", fullmatch=True)  # a word of no language
HOLDERS = [
    "smb://{}/films", "//{0}@nas/x", "\\\\nas\\{}\\x", "ssh: connect to host {} port 22: refused", "{}.duckdns.org",
    "open /home/{}/x: no", "mount_nfs: {}:/export: timed out", "user [{}]", "FIRM\\{}", "{}@NASX: Permission denied",
    "C:\\Users\\{}\\x", "cannot import '{}': no such pool", "ata-WDC_WD40_{}12345678 FAULTED", "/Volumes/{} (hfs)",
]  # fmt: skip


@given(name=NAMES, holder=st.sampled_from(HOLDERS), plain=st.lists(st.sampled_from(PLAIN), max_size=3))
def test_whatever_the_name_is_it_is_found_and_what_is_around_it_stays(name: str, holder: str, plain: list[str]) -> None:
    text = "\n".join([*plain, holder.format(name), f"and {name} again" if "12345678" not in holder else ""])
    shown = masked(text)
    assert name not in shown.casefold()
    assert shown.splitlines()[: len(plain)] == plain
    assert masked(shown) == shown


@given(st.text(max_size=300))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    shown = masked(text)
    assert masked(shown) == shown


def test_what_is_replaced_and_what_is_left_tell_of_a_password_and_do_not_repeat_it() -> None:
    masker = Masker()
    masker.learn(WITH_PASSWORDS[0])
    assert [name for kind, name in masker.names_in(WITH_PASSWORDS[0]) if kind == "password"] == [MASK]
    masker.mask(WITH_PASSWORDS[0])
    assert ("password", MASK, MASK) in masker.replaced
    assert PASSWORDS[0] not in str(masker.replaced)


def test_the_same_name_has_the_same_mask_and_a_disk_the_same_by_its_path() -> None:
    masker = Masker()
    masker.know("user", "jane", "joe")
    first = masker.mask("jane 10.0.0.7 joe 10.0.0.8")
    assert first == "user-1 192.0.2.1 user-2 192.0.2.2"
    assert masker.mask("10.0.0.8 joe 10.0.0.7 JANE") == "192.0.2.2 user-2 192.0.2.1 user-1"
    disk = "ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0ABCDEF"
    text = f"{disk}-part1 is /dev/disk/by-id/{disk}"
    assert masked(text) == "device-1-part1 is /dev/disk/by-id/device-1"
    assert masked(text, device=f"/dev/disk/by-id/{disk}") == "device-1-part1 is device-1"


@pytest.mark.parametrize(
    ("kind", "name", "text", "shown"),
    [
        ("path", "tank/films", "cp: /tank/films/Anna 1/a.mov: No space", "cp: /path-1/path-2/path-3: No space"),
        ("share", "films", "in films/anna.mov, or films", "in share-1/path-1, or share-1"),
        ("volume", "My Raid", "rm My Raid/x (busy)", "rm volume-1/path-1 (busy)"),
        ("user", "jane", "jane/notes", "user-1/notes"),
        ("user", "janedoe", "open janedoespictures_2 and oldJANEDOE", "open name-1_2 and name-2"),
        ("user", "jane", "janet", "janet"),  # as likely another word
        ("host", "macmini", "macmini is a Macmini9,1", "host-1 is a Macmini9,1"),
        ("share", "10", "share 10 of 10.0.0.7", "share share-1 of 192.0.2.1"),
        # the masks of a copy are given to nobody else
        ("host", "nasx", "host-1 and host-2 know 192.0.2.1", "host-1 and host-2 know 192.0.2.1"),
        ("host", "nasx", "host-1, nasx, 192.0.2.1, 10.0.0.7", "host-1, host-2, 192.0.2.1, 192.0.2.2"),
    ],
)
def test_what_is_below_a_name_or_has_one_in_it_is_masked(kind: str, name: str, text: str, shown: str) -> None:
    assert masked(text, **{kind: name}) == shown


def test_parsers_still_read_what_is_masked() -> None:
    for name in ("ifconfig-10gbase-t.txt", "ifconfig-v-1000baset.txt"):
        text = (MACOS_CAPTURES / name).read_text()
        assert parse_ifconfig(masked(text)).mtu == parse_ifconfig(text).mtu
    text = (MACOS_CAPTURES / "hdiutil-info-15.plist").read_text()
    assert [image.devices for image in parse_images(masked(text))] == [image.devices for image in parse_images(text)]
    text = (MACOS_CAPTURES / "mount.txt").read_text()
    assert list(parse_mounts(masked(text)).values()) == list(parse_mounts(text).values())
    text = (MACOS_CAPTURES / "sharing-l-indented.txt").read_text()
    assert len(parse_share_points(masked(text))) == len(parse_share_points(text))


def test_more_names_than_can_be_searched_for_are_refused() -> None:
    with pytest.raises(ValueError, match="names to mask"):
        Masker().know("user", *(f"name{number}" for number in range(MOST_NAMES + 1)))


@pytest.mark.parametrize(
    "text",
    ["1:" * 50_000, "/Users/" * 20_000, "/Users/" + "a " * 50_000, "a.b-" * 40_000, "name: " + "x" * 200_000,
     " " * 200_000],
)  # fmt: skip
def test_a_text_that_is_made_to_take_long_does_not(text: str) -> None:
    with bounded():
        masked(text, user="jane", volume="10.0.0.5 disk")
