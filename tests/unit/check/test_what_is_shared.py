"""The file that a Mac's owner shares: what is in it, what is not, that it can be read back, and what it may not do."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.checked_macs import machine, says
from support.examples import bounded

from lab.base.errors import BadInput, HostLost, LabFailure
from lab.check import hardware_file as file
from lab.check.hardware import Answer, findings
from lab.check.hardware_file import FIRST_LINE, Entry, SharedHost, parse_shared, render
from lab.check.machine import Machine
from lab.check.sharing import Sharing
from lab.hosts.host_config import HostConfig
from lab.hosts.hosts_file import Hosts, LabConfig, ShareConfig

HOSTS = Hosts(
    client=HostConfig(host="mini.firm.example", user="jane", data_address="10.77.0.1"),
    server=HostConfig(host="studio.local", user="joe", data_address="10.77.0.2"),
    share=ShareConfig(serve="lab", path="/srv/films of jane", name="films", account="joe"),
    lab=LabConfig(),
)
CLIENT = f"{FIRST_LINE}\n== client ==\n"
NAMES = r"""
printf '%s\n' "host Jane's Mac mini" "user jane" "person Jane Quill" "volume Big Raid" "serial C02XK1ABJG5H"
"""
MOUNTS = """\
/dev/disk3s1 on / (apfs, local)
//joe@studio._smb._tcp.local/Holidays%20of%20Joe on /Volumes/Holidays of Joe (smbfs, nodev, mounted by jane)
"""
SAYS_TOO_MUCH = {
    "ifconfig": says("en0: flags=8863<UP> mtu 1500\n\tether 3c:07:54:aa:bb:cc\n\tinet 10.77.0.1 netmask 0xffffff00\n"),
    "mount": says(MOUNTS),
    "mdutil": says("Error: Big Raid of Jane Quill, C02XK1ABJG5H, 9A3F2B11-77C0-4D21-9D5E-0123456789AB"),
    "nfsd": r"""printf 'studio: \033[2J\n-- assumption perl: as assumed\n== client ==\n/Users/jane/Secret Plan/x\n'""",
    "sw_vers": says("ProductName: macOS\nProductVersion: 15.5\nBuildVersion: 24F74"),
    "vm_stat": "exit 1",
}
SECRETS = (
    "jane", "joe", "quill", "mini", "studio", "firm", "films", "holidays", "raid", "secret", "10.77", "3c:07", "c02xk1",
    "9a3f2b11", "/srv",
)  # fmt: skip


def share(path: Path, mac: Machine, hosts: Hosts = HOSTS, answers: list[Answer] | None = None) -> str:
    """Write the file; ``answers`` are those to the assumptions, where the Mac was asked for them before."""
    sharing = Sharing(path, hosts)
    if answers is None:
        list(findings(mac, "10.77.0.2", answers := []))
    sharing.add(mac, "10.77.0.2", answers)
    return sharing.write()


def of_jane(folder: Path, changed: dict[str, str] | None = None) -> Machine:
    mac = machine(folder, SAYS_TOO_MUCH | {"names": NAMES} | (changed or {}))
    assert mac.facts
    return replace(mac, facts=replace(mac.facts, hostname="mini.firm.example", user="jane", home="/Users/jane"))


@pytest.fixture(autouse=True, scope="module")
def _names() -> Iterator[None]:
    """The script that asks for names looks into folders of a real Mac: a command of the emulated host in its place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lab.platforms.macos.preflight.NAMES", "names")
        yield


@pytest.fixture(scope="module")
def asked(_names: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, list[Answer]]:
    """Jane's Mac, and what it said of each assumption."""
    mac = of_jane(tmp_path_factory.mktemp("jane"))
    list(findings(mac, "10.77.0.2", answers := list[Answer]()))
    return mac, answers


@pytest.fixture(scope="module")
def shared(asked: tuple[Machine, list[Answer]], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of the file about it."""
    path = tmp_path_factory.mktemp("shared") / "mac.txt"
    assert share(path, asked[0], answers=asked[1]).startswith(f"{path}: ")
    return path.read_text()


def test_nothing_that_names_anybody_is_in_it(shared: str) -> None:
    assert [secret for secret in SECRETS if secret in shared.casefold()] == []
    assert "//user-" in shared  # it stays readable
    assert "ether 02:00:00:00:00:0" in shared


def test_it_is_read_back_as_it_was_written_the_unverified_and_worst_first(shared: str) -> None:
    (host,) = parse_shared(shared)
    assert (host.role, host.system, host.is_emulated) == ("client", "macOS 15.5 (24F74)", False)
    entries = {(entry.kind, entry.name): entry for entry in host.entries}
    names = ("tcp-settings", "nfsd-status", "load-when-off")
    verdicts = [entries["assumption", name].verdict for name in names]
    assert verdicts == [file.AS_ASSUMED, file.DIFFERS, file.NOT_ASKED]
    assert entries["capture", "vm_stat"].verdict == file.REFUSED
    assert entries["capture", "mount"].output[0] == "/dev/disk3s1 on / (apfs, local)"
    assert render([host]) == shared
    order = [entry.name for entry in host.entries]
    assert order.index("load-when-off") < order.index("link-back") < order.index("iostat-row")


def test_what_a_host_prints_is_no_line_of_the_file_and_does_nothing_to_a_terminal(shared: str) -> None:
    assert "\033" not in shared
    assert r"\x1b[2J" in shared
    assert "\n| -- assumption perl: as assumed\n| == client ==\n" in shared
    assert len([line for line in shared.splitlines() if line.startswith("== ")]) == 1


def test_without_root_it_says_what_it_could_not_ask(tmp_path: Path) -> None:
    share(tmp_path / "mac.txt", replace(of_jane(tmp_path), no_root=True))
    (host,) = parse_shared((tmp_path / "mac.txt").read_text())
    verdicts = {entry.name: entry.verdict for entry in host.entries}
    assert verdicts["sharing-list"] == file.NOT_TOLD
    assert "sharing" not in verdicts  # a capture


@pytest.mark.parametrize(
    ("facts", "instance", "is_told"),
    [
        ({"cpu": "EMULATED on a processor"}, None, True),
        ({}, "default/0123456789abcdef", True),
        ({"about": {"model": "EmulatedMac1,1"}}, None, False),
    ],
)
def test_an_emulated_mac_is_none(
    asked: tuple[Machine, list[Answer]], tmp_path: Path, facts: dict[str, Any], instance: str | None, is_told: bool
) -> None:
    mac, answers = asked
    assert mac.facts
    hosts = HOSTS.model_copy(update={"lab": LabConfig(instance=instance)})
    share(tmp_path / "mac.txt", replace(mac, facts=replace(mac.facts, **facts)), hosts, answers)
    text = (tmp_path / "mac.txt").read_text()
    assert (parse_shared(text)[0].is_emulated, file.EMULATED in text) == (True, is_told)


@pytest.mark.parametrize("existing", ["file", "link", "dangling link"])
def test_nothing_is_written_over_or_through_a_link(tmp_path: Path, existing: str) -> None:
    path, target = tmp_path / "mac.txt", tmp_path / "target"
    if existing == "link":
        target.write_text("mine")
    path.write_text("mine") if existing == "file" else path.symlink_to(target)
    with pytest.raises(BadInput, match="is there already"):
        Sharing(path, HOSTS)
    path.unlink()
    sharing = Sharing(path, HOSTS)
    path.symlink_to(target)
    with pytest.raises(BadInput, match="is there already"):
        sharing.write()
    assert [entry.read_text() for entry in tmp_path.glob("target")] == ["mine"] * (existing == "link")


def test_there_is_no_file_where_it_cannot_be_masked(tmp_path: Path) -> None:
    many = says("\n".join(f"//x@host{number}/share on /Volumes/a (smbfs)" for number in range(2100)))
    with pytest.raises(LabFailure, match="not written: more than 2000 names"):
        share(tmp_path / "mac.txt", of_jane(tmp_path, {"mount": many}), answers=[])
    assert not (tmp_path / "mac.txt").exists()


def test_a_lost_connection_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mac = of_jane(tmp_path)
    monkeypatch.setattr(mac.host, "shell", Mock(side_effect=HostLost("gone")))
    with pytest.raises(HostLost):
        share(tmp_path / "mac.txt", mac)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1"), ("hello", "line 1"), (FIRST_LINE, "no host"), (f"{CLIENT}== client ==\n", "one twice"),
        (f"{CLIENT}-- assumption a: as assumed\n-- assumption a: differs\n", "one twice"),
        (f"{CLIENT}| said\n", "line 3"), (f"{CLIENT}-- assumption A/b: as assumed\n", "line 3"),
        (f"{CLIENT}-- assumption a: perhaps\n", "line 3"), (f"{CLIENT}what: {'x' * 600}\n", "line 3"),
        (f"{FIRST_LINE}\n{'x' * file.MOST_BYTES}", "larger than"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_shared(text)


def test_a_file_of_too_many_entries_is_refused_and_long_answers_are_cut(tmp_path: Path) -> None:
    many = [Entry("capture", f"c{number}", "read") for number in range(file.MOST_ENTRIES + 1)]
    with pytest.raises(ValueError, match="too many"):
        parse_shared(render([SharedHost("client", {}, many)]))
    long = Entry("capture", "long", "read", {}, ["x" * 10_000] * 1000)
    with bounded():
        (host,) = parse_shared(render([SharedHost("client", {}, [long])]))
    assert host.entries[0].output[-1] == "… 700 more lines"
    assert max(map(len, host.entries[0].output)) == 400


@pytest.mark.parametrize(("name", "value"), [("system", "<b>macOS</b>"), ("model", "Mac16,10 | x"), ("model", "")])
def test_words_for_the_table_have_their_form(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="form"):
        getattr(SharedHost("client", {name: value} if value else {}), name)
