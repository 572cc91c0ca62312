"""`lab` inside a host of a local lab, run by an ordinary user with this machine's Python and this checkout.

Copies only the interpreter and the libraries that the host lacks. Mounts the rest read-only until the host ends, at
paths that no host program knows."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.local import lifecycle, syscalls
from support.local_lab import Bench, succeeded
from support.paths import ROOT, TESTS

FOLDER = "/opt/lab"
PYTHON = f"{FOLDER}/bin/python"
VENV = f"home = {FOLDER}/base/bin\ninclude-system-site-packages = false\n"
LIBRARIES = f"{FOLDER}/libraries"
PATH, MAC_PATH = "/usr/local/bin:/usr/bin:/bin", "/usr/bin:/bin:/usr/sbin:/sbin"
AS_ACCOUNT = 'cd "$HOME" && exec "$@"'


def bring_python(bench: Bench, host: str) -> None:
    """Put :data:`PYTHON` into a host, with `lab` and all that it needs."""
    pid = bench.init(host)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = f"{FOLDER}/lib/{version}/site-packages"
    mounts = {
        sysconfig.get_path("stdlib"): f"{FOLDER}/base/lib/{version}",
        sysconfig.get_path("purelib"): f"{FOLDER}/packages",
        str(ROOT): f"{FOLDER}/project",
    }
    for folder in (*mounts.values(), f"{FOLDER}/base/bin", f"{FOLDER}/bin", LIBRARIES, packages):
        _in_host(pid, folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(sys.executable).resolve(), _in_host(pid, f"{FOLDER}/base/bin/{version}"))
    # a virtual environment as `venv` makes one (PEP 405)
    _in_host(pid, PYTHON).symlink_to(f"{FOLDER}/base/bin/{version}")
    _in_host(pid, f"{FOLDER}/pyvenv.cfg").write_text(VENV)
    _in_host(pid, f"{packages}/lab.pth").write_text(f"{FOLDER}/project\n{FOLDER}/packages\n")
    words = [os.path.realpath(word) if word in mounts else word for pair in mounts.items() for word in pair]
    subprocess.run([sys.executable, TESTS / "support" / "mount_into.py", str(pid), *words], check=True)
    _bring_libraries(bench, host, pid)


def _in_host(pid: int, path: str) -> Path:
    return Path(f"/proc/{pid}/root{path}")


def _bring_libraries(bench: Bench, host: str, pid: int) -> None:
    """Copy the shared libraries of the interpreter and its modules that the host does not have."""
    binaries = [Path(sys.executable).resolve(), *Path(sysconfig.get_path("platstdlib")).glob("lib-dynload/*.so")]
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=True).stdout
    is_mac = bench.inside(host, "uname") == "Darwin\n"
    known = "ls /linux/usr/lib/*-linux-gnu | sed 's/.*/\t& (/'" if is_mac else "ldconfig -p"
    there = set(re.findall(r"^\t(\S+) \(", bench.inside(host, known), re.MULTILINE))
    for name, path in set(re.findall(r"^\t(\S+) => (\S+) \(", listed, re.MULTILINE)):
        if name not in there:
            shutil.copy(path, _in_host(pid, f"{LIBRARIES}/{name}"))
    if is_mac:  # an account there names the folder to each program
        return
    _in_host(pid, "/etc/ld.so.conf.d/lab.conf").write_text(f"{LIBRARIES}\n")
    bench.inside(host, "ldconfig")


@dataclass(frozen=True)
class Account:
    """An ordinary user of a host. On an emulated Mac the interpreter is that of Linux, all else as on the Mac."""

    bench: Bench
    host: str
    name: str
    is_mac: bool = False

    def create(self) -> None:
        """Create the account; macOS has it from its first start."""
        if not self.is_mac:
            self.bench.inside(self.host, f"id {self.name} >/dev/null 2>&1 || useradd --create-home {self.name}")

    @property
    def home(self) -> str:
        return f"/Users/{self.name}" if self.is_mac else f"/home/{self.name}"

    def words(self, *words: str, **environment: str) -> list[str]:
        """The words that run a command in the host as after a login of this account."""
        setpriv, group, own = "setpriv", self.name, {"PATH": PATH}
        if self.is_mac:
            setpriv, group, own = "/linux/usr/bin/setpriv", "staff", {"PATH": MAC_PATH, "LD_LIBRARY_PATH": LIBRARIES}
        variables = {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, **own, **environment}
        account = (setpriv, f"--reuid={self.name}", f"--regid={group}", "--init-groups")
        assigned = [f"{name}={value}" for name, value in variables.items()]
        login = [*account, "env", "-i", "LANG=C.UTF-8", "TERM=dumb", *assigned, "/bin/sh", "-c", AS_ACCOUNT, "sh"]
        return lifecycle.inside_command(self.bench.name, self.host, [*login, *words])

    def run(self, *words: str, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
        options: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "check": False}
        command = self.words(*words, **environment)
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, timeout=timeout, preexec_fn=syscalls.allow_many_files, **options
        )

    def lab(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run(PYTHON, "-m", "lab", *words, **options)

    def shell(self, script: str, **options: Any) -> str:
        return succeeded(self.run("sh", "-c", script, **options)).stdout
