"""The hosts and the sweep by which the engine of every run measures a subject."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from lab.base.private import PrivateFolder
from lab.design.stopping import LEAST_BLOCKS
from lab.design.sweep_file import Sweep, make_sweep
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.measure.subject import Subject

MIB = 1 << 20
PRECISION = 0.1
MOST_BLOCKS = 1000
SECONDS = 1  # that a transfer takes at least: so a minute holds several blocks
MOST_RAM = 4 << 30


def hosts_of(subject: Subject, place: str, ram_bytes: int, iperf3: str, password: str) -> dict[str, dict[str, str]]:
    """The sections of a hosts file. ``place`` is where files lie on this machine (``ram_disk_format``), with so much
    room. ``iperf3`` is as the key of a server has it, or empty; ``password`` where the share's comes from.
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
    return {name: {key: value for key, value in keys.items() if value} for name, keys in sections.items()}


def keep_hosts(sections: dict[str, dict[str, str]], state: Path) -> Hosts:
    """The hosts, kept in a file below this account's ``state``, where `lab restore` finds them. Raises BadInput."""
    folder, text = PrivateFolder(PrivateFolder(state).path / "shares"), json.dumps(sections, indent=1).encode()
    name = f"{hashlib.sha256(text).hexdigest()[:16]}.json"
    folder.write(name, text)
    return load_hosts(folder.path / name)


def sweep_of(subject: Subject, name: str) -> tuple[Sweep, str]:
    """The sweep, both directions by cp and rsync where they are there, until ± 10 %; and its text for run.json."""
    content = {
        "name": name, "description": "lab measure", "blocks": LEAST_BLOCKS, "max_blocks": MOST_BLOCKS,
        "precision": PRECISION, "effects": ["speed"],
        "workload": {"seconds": SECONDS},
        "factors": {
            "protocol": [subject.protocol], "tool": tools(subject), "mtu": [subject.facts.mtu], "store": ["disk"],
        },
    }  # fmt: skip
    return make_sweep(content, Path(f"{name}.toml")), _toml(content)


def _toml(content: dict[str, Any]) -> str:
    """A table of plain texts, numbers and lists as TOML, with the tables in it."""
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in content.items() if name not in tables]
    return "".join([*lines, *(f"\n[{name}]\n{_toml(table)}" for name, table in tables.items())])


def tools(subject: Subject) -> list[str]:
    """What copies: over SSH without a mount it is rsync alone."""
    rsync = ["rsync"] if "rsync" in subject.facts.tools else []
    return rsync if subject.protocol == "ssh" else ["cp", *rsync]


def run_name(subject: Subject) -> str:
    """The name of a run that nobody has named: the share's, as far as a folder can be called so."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", subject.target.partition("://")[2] or subject.target).strip("-.")
    return f"measure-{plain[:40].strip('-.')}".strip("-")
