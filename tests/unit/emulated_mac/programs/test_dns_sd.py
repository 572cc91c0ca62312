"""What dns-sd of an emulated Mac prints, against the formats of mDNSResponder's dns-sd.c."""

import re
import time

import pytest
from support.emulated_programs import Run, show_card

from emulated_mac.bonjour import Service
from emulated_mac.programs import dns_sd

SSH = [Service(name, "_ssh._tcp", f"{name}.local", 22) for name in ("server", "client")]
SMB = Service("server", "_smb._tcp", "server.local", 445)
BROWSED = """\
Browsing for _ssh._tcp
DATE: ---DAY---
TIME  ...STARTING...
Timestamp     A/R    Flags  if Domain               Service Type         Instance Name
TIME  Add        3  15 local.               _ssh._tcp.           client
TIME  Add        2  15 local.               _ssh._tcp.           server
TIME  Rmv        0  15 local.               _ssh._tcp.           client
"""
BROWSED_IN_10_6 = """\
Browsing for _ssh._tcp
Timestamp     A/R Flags if Domain                    Service Type              Instance Name
TIME  Add     3 15 local.                    _ssh._tcp.                client
TIME  Add     2 15 local.                    _ssh._tcp.                server
TIME  Rmv     0 15 local.                    _ssh._tcp.                client
"""
LOOKED_UP = """\
Lookup server._smb._tcp.local
DATE: ---DAY---
TIME  ...STARTING...
TIME  server._smb._tcp.local. can be reached at server.local.:445 (interface 15)
"""


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[list[Service]]:
    """What others answer, from one second to the next; then somebody presses Ctrl-C."""
    heard: list[list[Service]] = []
    show_card(monkeypatch, dns_sd)
    monkeypatch.setattr(dns_sd, "ask", lambda broadcast: heard.pop(0))
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def sleep(_: float) -> None:
        if not heard:
            raise SystemExit(130)

    monkeypatch.setattr(time, "sleep", sleep)
    return heard


def without_time(text: str) -> str:
    return re.sub(
        r"(?m)^[ \d]\d:\d\d:\d\d\.\d{3}  ", "TIME  ", re.sub(r"---\w{3} \d\d \w{3} \d{4}---", "---DAY---", text)
    )


@pytest.mark.parametrize(("version", "rows"), [("15.5", BROWSED), ("10.6", BROWSED_IN_10_6)])
@pytest.mark.parametrize("kind", ["_ssh._tcp", "_ssh"])
def test_dns_sd_tells_who_comes_and_goes(
    mac: Run, answers: list[list[Service]], version: str, rows: str, kind: str
) -> None:
    answers += [[*SSH, SMB], [*SSH], SSH[:1]]
    code, printed, _ = mac(version, "dns_sd", "-B", kind)
    assert (code, without_time(printed)) == (130, rows)


def test_dns_sd_tells_where_a_service_is(mac: Run, answers: list[list[Service]]) -> None:
    answers += [[*SSH], [*SSH, SMB]]
    code, printed, _ = mac("15.5", "dns_sd", "-L", "server", "_smb._tcp")
    assert (code, without_time(printed)) == (130, LOOKED_UP)


def test_dns_sd_prints_its_usage_and_ends_well(mac: Run) -> None:
    for words in ((), ("_ssh._tcp",), ("-z",), ("-",), ("-L", "server")):
        assert mac("15.5", "dns_sd", *words) == (0, "", dns_sd.USAGE + "\n")
