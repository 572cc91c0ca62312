"""What sysctl of an emulated Mac prints, against what real ones printed."""

from typing import Any

import pytest
from support.emulated_programs import Run


@pytest.mark.parametrize(
    ("version", "code", "out", "error"),
    [
        ("10.6", 0, "{0}: 65536\n", "sysctl: {0}: Result too large\n"),
        ("10.9", 0, "{0}: 65536\n", "sysctl: {0}: Result too large\n"),
        ("10.13", 1, "{0}: 65536\n", "sysctl: {0}=99999999: Result too large\n"),
        ("26", 1, "{0}: 65536\n", "sysctl: {0}=99999999: Result too large\n"),
    ],
)
def test_sysctl_refuses_as_its_version_does(mac: Run, version: str, code: int, out: str, error: str) -> None:
    name = "net.inet.tcp.sendspace"

    def refuse(**_: Any) -> None:
        raise OSError(34, "Result too large")

    answers = {"sysctl_names": [name], "sysctl_read": "65536", "sysctl_writable": True, "sysctl_write": refuse}
    printed = mac(version, "sysctl", "-w", f"{name}=99999999", answers=answers)
    assert printed == (code, out.format(name), error.format(name))


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("10.9", (0, "hw.ncpu: 2\n", "net: class is not implemented\n")),
        ("10.13", (1, "", "sysctl: unknown oid 'net.nosuch'\n")),
        ("15.5", (1, "hw.ncpu: 2\n", "sysctl: unknown oid 'net.nosuch'\n")),
    ],
)
def test_sysctl_meets_an_unknown_name_as_its_version_does(
    mac: Run, version: str, expected: tuple[int, str, str]
) -> None:
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
