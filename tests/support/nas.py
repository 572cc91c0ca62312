"""Servers of a local lab with the programs of a NAS. What a system has is data in ``nas_systems``, with its sources."""

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.local_lab import Bench, succeeded
from support.measured import Scene, log_in, measure_well
from support.paths import TESTS

SYSTEMS = TESTS / "support" / "nas_systems"
NAMES = sorted(path.stem for path in SYSTEMS.glob("*.toml"))
DROPBEAR = (TESTS / "support" / "nas_dropbear.sh").read_text()
MAKE = (TESTS / "support" / "nas_system.sh").read_text()
IDLE = "1200 30 96000 800 4500 120 360000 2400 0 2800 3200"  # numbers of a disk that never change
GONE = "gone"  # in the place of a text: there is no such file
WORDS = ("kept", "missing", "busybox", "sh", "account", "shell", "home", "read_only", "meminfo_lacks")


def make_nas(bench: Bench, name: str, installed: str = "") -> dict[str, Any]:
    """Turn the server of a bench into a NAS, for the rest of its life; what is known of it.

    Programs that its owner has ``installed`` are there, too. The kernel and servers that run stay those of the lab.
    """
    system: dict[str, Any] = tomllib.loads((SYSTEMS / f"{name}.toml").read_text())
    system["kept"] += f" {installed}"
    root = Path(f"/proc/{bench.init('server')}/root")
    if system.get("dropbear"):
        _serve_dropbear(bench, root)
    for program in ("busybox", *system.get("brought", "").split()):
        shutil.copy(shutil.which(program) or program, root / "usr/bin" / program)
    files = {"/run/nas/proc/diskstats": "".join(f"{row} {IDLE}\n" for row in system["disks"])}
    files |= {path: text.lstrip("\n") for path, text in system["files"].items()}
    _write(root, files)
    words = [f"{key}={system.get(key, '')}" for key in WORDS]
    succeeded(bench.execute("server", "busybox", "env", *words, "busybox", "sh", "-c", MAKE))
    return system


def _serve_dropbear(bench: Bench, root: Path) -> None:
    programs = ["/usr/sbin/dropbear", "/usr/bin/dropbearconvert"]
    listed = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    libraries = {path for path in re.findall(r" => (/\S+) \(", listed) if not (root / path[1:]).exists()}
    (root / "opt/dropbear").mkdir()
    for path in (*programs, *libraries):
        shutil.copy(path, root / "opt/dropbear")
    bench.inside("server", DROPBEAR)


def hosts_of(bench: Bench, system: Mapping[str, Any], **changes: str | None) -> Path:
    """The hosts file for the share that a NAS has."""
    account = {"server_user": system["account"], "server_sudo": system["sudo"]}
    if system.get("dropbear"):
        way = bench.command("local", "exec", "--name", bench.name, "server", "--", "busybox", "nc", "127.0.0.1", "2222")
        account["server_proxy_command"] = shlex.join(way)
    share = {"share_serve": "existing", "share_name": "labram", "share_path": None}
    return bench.changed_hosts(**account | share | changes)


def _write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = root / path.removeprefix("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        if text != GONE:
            place.write_text(text)
            place.chmod(0o755 if text.startswith("#!") else 0o440 if "sudoers" in path else 0o644)


def measure_with_login(scene: Scene, name: str) -> None:
    """Measure the share of a server that has become a NAS, with a login there, by `lab measure`."""
    system = make_nas(scene.bench, name)
    log_in(scene, 2222 if system.get("dropbear") else 22)
    measure_well(scene, "smb", scene.url("smb"), "--server", f"{system['account']}@nas")
    for trial in (trial for trial in scene.trials() if trial["protocol"] == "smb"):
        assert trial["server_cpu_s"] is not None
        assert trial["observed"]["server"]["disk_written_bytes"] == 0  # its disks are known, and do nothing
