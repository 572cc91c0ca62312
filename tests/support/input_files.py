"""A valid hosts file and a valid sweep file, and how tests read and write such files."""

import json
from collections.abc import Mapping
from configparser import RawConfigParser
from pathlib import Path

from lab.hosts.hosts_file import Hosts, load_hosts

HOSTS = """\
[client]
host = mac.example
data_address = 192.0.2.1
[server]
host = nas.example
data_address = 192.0.2.2
[share]
account = lab
password = env:LAB_PASSWORD
"""
SWEEP = """\
name = "try"
[workload]
size = "32 MiB"
[factors]
protocol = ["smb"]
"""
# names of shares that people might choose
SHARES = ("a b", "it's", '"quoted"', "100%", "$(touch x)`id`", "a;b#c,d=e&f", "-n", "é😀", "x" * 80)


def write_hosts(folder: Path) -> Path:
    path = folder / "hosts.ini"
    path.write_text(HOSTS)
    path.chmod(0o600)
    return path


def load_text(folder: Path, text: str) -> Hosts:
    path = folder / "hosts.ini"
    path.write_text(text, encoding="utf-8")
    return load_hosts(path)


def toml(values: Mapping[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def read_ini(path: Path) -> RawConfigParser:
    parser = RawConfigParser()
    assert parser.read(path, encoding="utf-8")
    return parser


def write_ini(path: Path, content: RawConfigParser) -> Path:
    with path.open("w", encoding="utf-8") as file:
        content.write(file)
    return path
