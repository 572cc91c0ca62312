"""The hosts and the sweep of a run that measures a subject."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from lab.base.private import PrivateFolder
from lab.design.stopping import LEAST_BLOCKS
from lab.design.sweep_file import Sweep, make_sweep
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.measure.subject import Subject

MIB = 1 << 20
PRECISION = 0.1
MOST_BLOCKS = 1000
SECONDS = 1  # the least time of a transfer; a minute holds several blocks
MOST_RAM = 4 << 30


def hosts_of(subject: Subject, place: str, ram_bytes: int, iperf3: str, password: str) -> dict[str, dict[str, str]]:
    """The sections of a hosts file. ``place`` is the ``ram_disk_format`` of this machine's files, with its size.

    ``iperf3`` is the value of the server's key, or empty; ``password`` is the source of the share's password.
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
        share |= {"path": subject.share} if subject.protocol == "nfs" else {"name": subject.share, "password": password}
        share |= {"account": subject.account, "folder": subject.folder}
    server = {"data_address": subject.address, "tune": "no", **server}
    sections = {"client": client, "server": server, "share": share, "lab": {"title": subject.target}}
    return {name: {key: value for key, value in keys.items() if value} for name, keys in sections.items()}


def keep_hosts(sections: dict[str, dict[str, str]], state: Path) -> Hosts:
    """The hosts, in a file below the folder ``state``, where `lab restore` finds them. Raises BadInput."""
    folder, text = PrivateFolder(PrivateFolder(state).path / "shares"), json.dumps(sections, indent=1).encode()
    name = f"{hashlib.sha256(text).hexdigest()[:16]}.json"
    folder.write(name, text)
    return load_hosts(folder.path / name)


def sweep_of(subject: Subject, name: str) -> tuple[Sweep, str]:
    """The sweep, both directions by cp and rsync if installed, until ± 10 %; and its text for run.json."""
    content = {
        "name": name, "description": "lab measure", "blocks": LEAST_BLOCKS, "max_blocks": MOST_BLOCKS,
        "precision": PRECISION, "effects": ["speed"], "workload": {"seconds": SECONDS},
        "factors": {
            "protocol": [subject.protocol], "tool": tools(subject), "mtu": [subject.facts.mtu], "store": ["disk"],
        },
    }  # fmt: skip
    return make_sweep(content, Path(f"{name}.toml")), _toml(content)


def _toml(content: Mapping[str, object]) -> str:
    """A table of texts, numbers, lists and tables as TOML."""
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in content.items() if name not in tables]
    return "".join([*lines, *(f"\n[{name}]\n{_toml(table)}" for name, table in tables.items())])


def tools(subject: Subject) -> list[str]:
    """The tools; over SSH rsync alone, because nothing is mounted."""
    rsync = ["rsync"] if "rsync" in subject.facts.tools else []
    return rsync if subject.protocol == "ssh" else ["cp", *rsync]


def run_name(subject: Subject) -> str:
    """The default name of a run: the share's, without characters that a folder's name cannot have."""
    target = unquote(subject.target)
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", target.partition("://")[2] or target).strip("-.")
    return f"measure-{plain[:40].strip('-.')}".strip("-")
