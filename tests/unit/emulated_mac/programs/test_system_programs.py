"""What sw_vers, sysctl and vm_stat of an emulated Mac print, and which programs, sysctls and services a version has."""

import plistlib
import re
from pathlib import Path

import pytest
from support.emulated_programs import Run, capture, refusing

from emulated_mac import faults, launchd_services, processes, profiles, programs
from emulated_mac.kernel import sysctls
from emulated_mac.programs import PLACES, place


def test_sw_vers_is_that_of_its_version(mac: Run) -> None:
    assert mac("10.6", "sw_vers")[1] == capture("sw_vers-10.6.8.txt")
    printed, real = mac("26", "sw_vers")[1], capture("sw_vers-26.4.1.txt")
    assert re.sub(r"\t[^\t\n]+\n", "\n", printed) == re.sub(r"\t[^\t\n]+\n", "\n", real)


@pytest.mark.parametrize(
    ("version", "code", "value"), [("10.6", 0, ""), ("10.9", 0, ""), ("10.13", 1, "=99999999"), ("26", 1, "=99999999")]
)
def test_sysctl_refuses_as_its_version_does(mac: Run, version: str, code: int, value: str) -> None:
    name, refuse = "net.inet.tcp.sendspace", refusing(34, "Result too large")
    answers = {"sysctl_names": [name], "sysctl_read": "65536", "sysctl_writable": True, "sysctl_write": refuse}
    printed = mac(version, "sysctl", "-w", f"{name}=99999999", answers=answers)
    assert printed == (code, f"{name}: 65536\n", f"sysctl: {name}{value}: Result too large\n")


def test_sysctl_meets_an_unknown_name_as_its_version_does(mac: Run) -> None:
    for version, expected in {
        "10.9": (0, "hw.ncpu: 2\n", "net: class is not implemented\n"),
        "10.13": (1, "", "sysctl: unknown oid 'net.nosuch'\n"),
        "15.5": (1, "hw.ncpu: 2\n", "sysctl: unknown oid 'net.nosuch'\n"),
    }.items():
        answers = {"sysctl_names": ["hw.ncpu"], "sysctl_read": "2"}
        assert mac(version, "sysctl", "net.nosuch", "hw.ncpu", answers=answers) == expected


def test_sysctl_writes_without_w_since_10_10(mac: Run) -> None:
    values = iter(["131072", "65536"])
    answers = {
        "sysctl_names": ["net.inet.tcp.recvspace"], "sysctl_writable": True, "sysctl_write": None,
        "sysctl_read": lambda name: next(values),
    }  # fmt: skip
    words = ("sysctl", "net.inet.tcp.recvspace=65536")
    assert mac("10.13", *words, answers=answers) == (0, "net.inet.tcp.recvspace: 131072 -> 65536\n", "")
    assert mac("10.6", *words, answers=answers)[::2] == (2, "sysctl: must specify -w to set variables\n")


def test_vm_stat_has_the_rows_and_the_columns_of_a_mac(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"free": 4430, "active": 751091, "inactive": 749576, "wired": 207285}
    monkeypatch.setattr(processes, "read_memory_pages", lambda page: pages)
    events = dict.fromkeys(("pgfault", "pgpgin", "pgpgout", "pswpin", "pswpout"), 12817858289)
    monkeypatch.setattr(processes, "read_event_counts", lambda: events)
    printed = mac("15.5", "vm_stat", answers={"sysctl_read": "16384"})[1].splitlines()
    real = capture("vm_stat-16k-pages.txt").splitlines()
    assert printed[:4] == real[:4]
    assert {line for line in printed if line.startswith(("Pages wired", '"'))} <= set(real)
    names = ({re.sub(r"[\d ]+", "", line) for line in lines} for lines in (real[1:], printed))
    assert set.issubset(*names)


def test_every_program_is_a_module_and_every_module_is_placed() -> None:
    folder = Path(programs.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert modules == {name.replace("-", "_") for name in PLACES}
    lacking = {name for name in PLACES if place(name, profiles.PROFILES["10.6.8"]) is None}
    assert {"caffeinate", "tmutil", "purge", "mount_apfs", "python3"} <= lacking


def test_sysctl_knows_no_doautosndbuf_since_11() -> None:
    known = {version: sysctls.network_variables(profiles.PROFILES[version]) for version in profiles.PROFILES}
    has = {version for version, names in known.items() if "net.inet.tcp.doautosndbuf" in names}
    assert has == {"10.9.5", "10.13.6", "10.15.7"}
    assert {version for version, names in known.items() if "net.inet.tcp.sockthreshold" in names} == {"10.6.8"}


def test_services_have_property_lists_and_faults_names_that_a_person_can_type() -> None:
    for service in launchd_services.SERVICES:
        text = plistlib.dumps(launchd_services.property_list(service))
        assert plistlib.loads(text)["Label"] == service.label
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) and text for name, text in faults.FAULTS.items())
