"""`lab` inside a host of a local lab, as an ordinary user there runs it: with this machine's Python, and this checkout.

Nothing is copied but the interpreter and the libraries that the host lacks: what is large is mounted, read-only, until
the host ends. Nothing stands at the paths of this machine, and no host program sees any of it.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lab.local import lifecycle, state, syscalls
from support.local_lab import Bench
from support.paths import ROOT, TESTS

FOLDER = "/opt/lab"
PYTHON = f"{FOLDER}/bin/python"
VENV = f"home = {FOLDER}/base/bin\ninclude-system-site-packages = false\n"
LIBRARIES = f"{FOLDER}/libraries"
PATH, MAC_PATH = "/usr/local/bin:/usr/bin:/bin", "/usr/bin:/bin:/usr/sbin:/sbin"
# $1 an account, the others words: as it logs in
AS_ACCOUNT = 'cd "$HOME" && exec "$@"'


def bring_python(bench: Bench, host: str) -> None:
    """Have :data:`PYTHON` in a host, which knows `lab` and what that needs."""
    lab = state.load(bench.name)
    assert lab
    pid = lab.hosts[host].pid
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
    """Copy the shared libraries of the interpreter and of the standard library that the host does not have."""
    binaries = [Path(sys.executable).resolve(), *Path(sysconfig.get_path("platstdlib")).glob("lib-dynload/*.so")]
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=True).stdout
    is_mac = bench.inside(host, "uname") == "Darwin\n"
    known = "ls /linux/usr/lib/*-linux-gnu | sed 's/.*/\t& (/'" if is_mac else "ldconfig -p"
    there = set(re.findall(r"^\t(\S+) \(", bench.inside(host, known), re.MULTILINE))
    for name, path in set(re.findall(r"^\t(\S+) => (\S+) \(", listed, re.MULTILINE)):
        if name not in there:
            shutil.copy(path, _in_host(pid, f"{LIBRARIES}/{name}"))
    if is_mac:  # MacAccount names the folder to each program
        return
    _in_host(pid, "/etc/ld.so.conf.d/lab.conf").write_text(f"{LIBRARIES}\n")
    bench.inside(host, "ldconfig")


@dataclass(frozen=True)
class Account:
    """An ordinary user of a host."""

    bench: Bench
    host: str
    name: str
    setpriv: ClassVar[str] = "setpriv"

    @property
    def group(self) -> str:
        return self.name

    def create(self) -> None:
        """Have the account there."""
        self.bench.inside(self.host, f"id {self.name} >/dev/null 2>&1 || useradd --create-home {self.name}")

    @property
    def home(self) -> str:
        return f"/home/{self.name}"

    @property
    def variables(self) -> dict[str, str]:
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "PATH": PATH}

    def words(self, *words: str, **environment: str) -> list[str]:
        """The command that runs another in the host, as it does after this account has logged in."""
        variables = self.variables | environment
        account = (self.setpriv, f"--reuid={self.name}", f"--regid={self.group}", "--init-groups")
        assigned = [f"{name}={value}" for name, value in variables.items()]
        login = [*account, "env", "-i", "LANG=C.UTF-8", "TERM=dumb", *assigned, "/bin/sh", "-c", AS_ACCOUNT, "sh"]
        return lifecycle.inside_command(self.bench.name, self.host, [*login, *words])

    def run(self, *words: str, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command, and wait for its end."""
        options: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "check": False}
        command = self.words(*words, **environment)
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, timeout=timeout, preexec_fn=syscalls.allow_many_files, **options
        )

    def lab(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `lab`."""
        return self.run(PYTHON, "-m", "lab", *words, **options)

    def shell(self, script: str, **options: Any) -> str:
        """What a shell script prints, which must not fail."""
        done = self.run("sh", "-c", script, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


class MacAccount(Account):
    """The account of whoever sits at an emulated Mac: the interpreter is that of Linux, all else as on the Mac."""

    setpriv = "/linux/usr/bin/setpriv"

    def create(self) -> None:
        """It is there: macOS has an account from its first start on."""

    @property
    def home(self) -> str:
        return f"/Users/{self.name}"

    @property
    def group(self) -> str:
        return "staff"

    @property
    def variables(self) -> dict[str, str]:
        return super().variables | {"PATH": MAC_PATH, "LD_LIBRARY_PATH": LIBRARIES}
