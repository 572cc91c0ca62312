"""A subject as a hosts file and a sweep: so that one engine measures, and a run can be read, resumed and restored."""

from __future__ import annotations

import re

from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.design.stopping import LEAST_BLOCKS
from lab.measure.subject import Subject

MIB = 1 << 20
PRECISION = 0.1
MOST_BLOCKS = 1000
SECONDS = 1  # that a transfer takes at least: so a minute holds several blocks
MOST_RAM = 4 << 30


def hosts_text(subject: Subject, place: str, ram_bytes: int, iperf3: str, password: str) -> str:
    """The hosts file. ``place`` is where files lie on this machine (``ram_disk_format``), with so much room.

    ``iperf3`` is as the key of a server has it, or empty; ``password`` where the share's comes from. Raises BadInput
    for what no hosts file can say.
    """
    client = {
        "transport": "local", "sudo": "none", "tune": "no", "data_address": subject.own_address,
        "ram_disk_format": place, "ram_disk": f"{ram_bytes}",
    }  # fmt: skip
    user, _, host = subject.login.rpartition("@")
    server = {"host": host, "user": user, "sudo": "none" if host else "", "iperf3": iperf3}
    share = {"serve": "existing"}
    if subject.mounted:
        share["mounted"] = subject.mounted
    elif subject.protocol == "ssh":
        share |= {"path": "~", "account": user or "nobody"}
    else:
        is_nfs = subject.protocol == "nfs"
        share |= {"path": subject.share} if is_nfs else {"name": subject.share, "password": password}
        share |= {"account": subject.account, "folder": subject.folder}
    sections = {
        "client": client,
        "server": {"data_address": subject.address, "tune": "no", **server},
        "share": share,
        "lab": {"title": subject.target},
    }
    return "\n".join(_section(name, keys) for name, keys in sections.items())


def _section(name: str, keys: dict[str, str]) -> str:
    for value in keys.values():
        if value != value.strip() or re.search(r"\s[#;]|[\r\n]", value):
            raise BadInput(
                f"{one_line(value, 80)!r}: a blank at its end, or a # or ; after one, cannot stand in a hosts file",
                "mount the share, or link to it, under another name",
            )
    return f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value)


def sweep_text(subject: Subject, name: str) -> str:
    """The sweep: both directions, by cp and rsync where they are there, until ± 10 %."""
    return f"""\
name = "{name}"
description = "lab measure"
blocks = {LEAST_BLOCKS}
max_blocks = {MOST_BLOCKS}
precision = {PRECISION}
effects = ["speed"]

[workload]
seconds = {SECONDS}

[factors]
protocol = ["{subject.protocol}"]
tool = [{", ".join(f'"{tool}"' for tool in tools(subject))}]
mtu = [{subject.facts.mtu}]
store = ["disk"]
"""


def tools(subject: Subject) -> list[str]:
    """What copies: over SSH without a mount it is rsync alone."""
    rsync = ["rsync"] if "rsync" in subject.facts.tools else []
    return rsync if subject.protocol == "ssh" else ["cp", *rsync]


def run_name(subject: Subject) -> str:
    """The name of a run that nobody has named: the share's, as far as a folder can be called so."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", subject.target.partition("://")[2] or subject.target).strip("-.")
    return f"measure-{plain[:40].strip('-.')}".strip("-")
