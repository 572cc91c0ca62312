"""Looks for a password wherever it must not be, in every form that programs write it."""

import base64
import html
import json
import os
import re
import shlex
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from support.local_lab import HOSTS, Bench

KEPT = ("tmp", "run", "var", "root", "home", "srv", "etc", "dev/shm")


def forms(secret: str) -> set[bytes]:
    encoded = [quote(secret), quote(secret, safe=""), quote(secret, safe=";/:@"), quote_plus(secret)]
    texts = [secret, *encoded, *map(str.swapcase, encoded), *(text.replace("%2", "%252") for text in encoded)]
    texts += [shlex.quote(secret), json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    texts += [repr(secret)[1:-1], html.escape(secret), secret.replace("\\", "\\\\"), secret.replace(" ", "\\040")]
    binary = [secret.encode("utf-16-le"), secret.encode("latin-1")]
    for line in (secret.encode(), f"{secret}\n".encode()):
        binary += [base64.b64encode(line).rstrip(b"="), base64.urlsafe_b64encode(line).rstrip(b"=")]
        binary += [line.strip().hex().encode(), line.strip().hex().upper().encode()]
    lower = [re.sub("%..", lambda escape: escape[0].lower(), text).encode() for text in encoded]
    return {text.encode() for text in texts} | set(binary) | set(lower)


def shown_in(content: bytes, secret: str) -> bool:
    return any(form in content for form in forms(secret))


def below(folder: Path) -> Iterator[Path]:
    """Every file below a folder on the same mount: looking into a share would join the transfer."""
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not os.path.ismount(f"{directory}/{name}")]
        yield from (Path(directory) / name for name in names)


class Watch:
    """What was seen: ``processes`` with the password in words or environment, ``files`` that others may read."""

    def __init__(self, secret: str, roots: dict[str, Path]):
        self.wanted, self.roots = forms(secret), roots
        self.processes: set[str] = set()
        self.files: set[str] = set()
        self.rounds = 0
        self.names: set[str] = set()

    def look(self) -> None:
        """Look at every process of this machine and its hosts, and at what the lab writes on both hosts."""
        self.rounds += 1
        for process in Path("/proc").glob("[0-9]*"):
            for kind in ("cmdline", "environ"):
                with suppress(OSError):
                    content = (process / kind).read_bytes()
                    self.names.add(content.split(b"\0")[0].decode(errors="replace").rpartition("/")[2])
                    if any(form in content for form in self.wanted):
                        self.processes.add(f"{kind} of {process.name}: {(process / 'comm').read_text().strip()}")
        for role, root in self.roots.items():
            for path in below(root / "tmp"):
                with suppress(OSError):
                    mode = path.lstat().st_mode
                    if stat.S_ISREG(mode) and mode & 0o077 and path.stat().st_size < 10**6 and self.holds(path):
                        self.files.add(f"{role}: {path.relative_to(root)}: {mode & 0o777:o}")

    def holds(self, path: Path) -> bool:
        content = path.read_bytes()
        return any(form in content for form in self.wanted)

    def found_below(self, folder: Path, since: float) -> list[str]:
        """The files below a folder that were written since then and hold the password."""
        paths = []
        for path in below(folder):
            with suppress(OSError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) and status.st_mtime >= since and self.holds(path):
                    paths.append(str(path))
        return paths


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Look as often as possible while the block runs."""
    done = threading.Event()

    def work() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)  # so that no short program is missed
        while not done.wait(0.005):
            watch.look()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


SECRET = "p%40 ss/w:o'r\"d\\$x,é;#&+<"


@pytest.fixture
def keeper(new_bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A lab whose account has this password on both hosts; its hosts file names a file with it."""
    bench = new_bench()
    temporary = bench.directory.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    for host in HOSTS:
        enter = ["nsenter", "--target", str(bench.init(host)), "--all", "--", "chpasswd"]
        subprocess.run(enter, input=f"lab:{SECRET}\n".encode(), check=True)
    (tmp_path / "password").touch(0o600)
    (tmp_path / "password").write_text(SECRET)
    return bench


def watch(bench: Bench) -> Watch:
    return Watch(SECRET, {host: Path(f"/proc/{bench.init(host)}/root") for host in HOSTS})


def assert_nowhere(bench: Bench, seen: Watch, since: float) -> None:
    assert seen.rounds > 10
    assert seen.processes == set()
    assert seen.files == set()
    left = [path for root in seen.roots.values() for name in KEPT for path in seen.found_below(root / name, since)]
    left += seen.found_below(bench.directory, since)
    left += seen.found_below(bench.directory.parent / "temporary", since)
    assert left == []
