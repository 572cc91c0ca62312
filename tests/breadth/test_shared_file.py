"""What the owner of two Macs would send: asked of emulated ones over SSH, it names nobody and counts as no hardware."""

import re
from collections.abc import Callable
from pathlib import Path

from support.local_lab import Bench

from lab.base.present import present
from lab.check.hardware_file import parse_shared
from lab.hosts.hosts_file import load_hosts


def test_the_file_of_two_emulated_macs(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    macs = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@10.6")
    macs.execute("server", "/bin/sh", "-c", "mkdir -p /Users/jane/x && sharing -a /Users/jane/x -n HolidaysOfJane")
    file = tmp_path / "macs.txt"
    done = macs.lab("check", "--hosts", str(macs.hosts), "--hardware", "--share", str(file))
    assert str(file) in done.stderr
    text = file.read_text()
    config = load_hosts(macs.hosts)
    login_names = map(present, (config.client.host, config.server.host))
    names = (*login_names, config.client.data_address, config.server.data_address, macs.name)
    assert [name for name in (*names, "HolidaysOfJane", "jane") if name.casefold() in text.casefold()] == []
    output = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    # The account of emulated Macs is called `lab`, which names nobody: dseditgroup alone says it
    assert re.findall(r".*\blab\b.*", output) == ["| yes lab is a member of staff"] * 2
    assert "user-" in output
    hosts = parse_shared(text)
    assert [host.system.split(" (")[0] for host in hosts] == ["macOS 15.5", "Mac OS X 10.6.8"]
    assert [host.is_emulated for host in hosts] == [True, True]
    for host in hosts:
        captures = {entry.name: entry.verdict for entry in host.entries if entry.kind == "capture"}
        assert {name for name, verdict in captures.items() if verdict != "read"} == set()
        assert len(captures) > 15
    again = macs.lab("check", "--hosts", str(macs.hosts), "--hardware", "--share", str(file))
    assert (again.returncode, file.read_text()) == (2, text)
