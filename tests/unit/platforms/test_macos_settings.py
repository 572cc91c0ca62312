"""Settings of a Mac, and its caches: set, read back and put back."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from support.emulated_mac import mac, settings_of, state
from support.fake_host import FakeHost

from lab.base.errors import CommandError, LabFailure, SettingRefused, Unsupported
from lab.hosts.command import script
from lab.platforms.macos.platform import MacOS
from lab.platforms.macos.settings import READ_MTU

MIB = 2**20
SPACES = {"tcp.sendspace": "65536", "tcp.recvspace": "65536"}


def test_mtu_is_set_and_put_back_and_a_refusal_noticed_although_ifconfig_exits_0(tmp_path: Path) -> None:
    host = mac(tmp_path)
    changes = settings_of(host, tmp_path)
    with changes.scope():
        changes.apply(MacOS(host).settings.mtu("en0", 9000))
        assert state(host)["mtu"] == "9000\n"
        assert len(host.calls("sleep")) == 3  # the link was down twice
    assert (state(host)["mtu"], changes.journal.open) == ("1500\n", [])
    refused = "MTU of en0: asked for '16000', in effect is '1500': the interface or its driver does not take it: give"
    with pytest.raises(SettingRefused, match=refused), changes.scope():
        changes.apply(MacOS(host).settings.mtu("en0", 16000))
    assert (state(host)["mtu"], changes.journal.open) == ("1500\n", [])
    unread = FakeHost()
    unread.on(script(READ_MTU, "en9"), stderr="ifconfig: interface en9 does not exist", exit_code=1)
    with pytest.raises(CommandError, match="interface en9 does not exist"):
        MacOS(unread).settings.mtu("en9", 9000).read.run(unread)


@pytest.mark.parametrize(
    ("era", "pins", "wanted"),
    [
        ("10.6", {"sockthreshold": "64"}, {"sockthreshold": "0"}),
        ("10.6", {"doautorcvbuf": "1", "doautosndbuf": "1"}, {"doautorcvbuf": "0", "doautosndbuf": "0"}),
        (
            "10.10",
            {"sockthreshold": "0", "doautorcvbuf": "1", "doautosndbuf": "1", "autosndbufmax": "2097152"},
            {"sockthreshold": "0", "doautorcvbuf": "0", "doautosndbuf": "0", "autosndbufmax": "2097152"},
        ),
        ("26", {"doautorcvbuf": "1", "autosndbufmax": "4194304"}, {"doautorcvbuf": "0", "autosndbufmax": "1048576"}),
    ],
    ids=["10.6", "10.8", "10.14", "26"],
)
def test_buffers_pin_what_a_version_has(tmp_path: Path, era: str, pins: dict[str, str], wanted: dict[str, str]) -> None:
    host = mac(tmp_path, era, SPACES | {f"tcp.{name}": value for name, value in pins.items()})
    before = state(host)
    changes = settings_of(host, tmp_path)
    with changes.scope():
        changes.apply_all(MacOS(host).settings.tcp_buffers(MIB))
        expected = {"sendspace": str(MIB), "recvspace": str(MIB), **wanted}
        values = {f"net.inet.tcp.{name} {value}" for name, value in expected.items()}
        assert sorted(state(host)["values"].splitlines()) == sorted(values)
    assert sorted(state(host)["values"].splitlines()) == sorted(before["values"].splitlines())


@pytest.mark.parametrize(("era", "error"), [("10.6", SettingRefused), ("10.10", CommandError), ("26", CommandError)])
def test_a_buffer_that_is_too_large_is_refused_and_undone(tmp_path: Path, era: str, error: type[LabFailure]) -> None:
    host = mac(tmp_path, era, SPACES | {"tcp.sockthreshold": "64"})
    changes = settings_of(host, tmp_path)
    with pytest.raises(error, match=r"(?s)sendspace.*: give another tcp_space in the sweep"), changes.scope():
        changes.apply_all(MacOS(host).settings.tcp_buffers(2**30))
    values = {"recvspace": "65536", "sendspace": "65536", "sockthreshold": "64"}
    assert sorted(state(host)["values"].splitlines()) == [f"net.inet.tcp.{name} {values[name]}" for name in values]


@pytest.mark.parametrize("era", ["10.6", "10.10", "26"])
def test_buffers_that_cannot_be_pinned_and_an_unknown_sysctl_are_errors(tmp_path: Path, era: str) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(LabFailure, match=r"client: TCP buffers cannot be pinned.*knows only \{\}"):
        MacOS(mac(tmp_path / "other", era, SPACES)).settings.tcp_buffers(MIB)
    host = mac(tmp_path, era, {"tcp.sockthreshold": "64"})
    setting = MacOS(host).settings.tcp_buffers(MIB)[1]
    with pytest.raises(CommandError, match=setting.name):  # no old value
        settings_of(host, tmp_path).apply(setting)
    assert not [call for call in host.calls("sysctl") if "-w" in call]


@pytest.mark.parametrize(("more", "called"), [({"purge": "", "sync": ""}, "purge"), ({"sync": ""}, "sync")])
def test_caches_are_purged_where_a_mac_has_purge(tmp_path: Path, more: dict[str, str], called: str) -> None:
    host = mac(tmp_path, more=more)
    MacOS(host).files.drop_caches()
    assert [call.strip() for call in host.calls("purge", "sync")] == [called]
    with nullcontext() if "purge" in more else pytest.raises(Unsupported, match="it has no purge"):
        MacOS(host).files.check_cold_reads()
