"""Looking for a password wherever it must not be: in every form that a program may have given it."""

import base64
import html
import json
import os
import shlex
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

KEPT = ("tmp", "run", "var", "root", "home", "srv", "etc", "dev/shm")


def forms(secret: str) -> set[bytes]:
    """The password as it is, percent-encoded, in base64, quoted for a shell, escaped for JSON, Python and HTML."""
    encoded = [quote(secret), quote(secret, safe=""), quote(secret, safe=";/:@"), quote_plus(secret)]
    texts = [secret, *encoded, *map(str.swapcase, encoded), *(text.replace("%2", "%252") for text in encoded)]
    texts += [shlex.quote(secret), json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    texts += [repr(secret)[1:-1], html.escape(secret), secret.replace("\\", "\\\\"), secret.replace(" ", "\\040")]
    binary = [secret.encode("utf-16-le"), secret.encode("latin-1")]
    for line in (secret.encode(), f"{secret}\n".encode()):
        binary += [base64.b64encode(line).rstrip(b"="), base64.urlsafe_b64encode(line).rstrip(b"=")]
        binary += [line.strip().hex().encode(), line.strip().hex().upper().encode()]
    lower = [percent_lower(text).encode() for text in encoded]
    return {text.encode() for text in texts} | set(binary) | set(lower)


def percent_lower(text: str) -> str:
    """Percent escapes with small letters, the rest as it was."""
    first, *rest = text.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def shown_in(content: bytes, secret: str) -> bool:
    """Whether any form of the password stands in it."""
    return any(form in content for form in forms(secret))


def below(folder: Path) -> Iterator[Path]:
    """Every file below a folder, not beyond mount points: looking into a share would take part in the transfer."""
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not os.path.ismount(f"{directory}/{name}")]
        yield from (Path(directory) / name for name in names)


class Watch:
    """What was seen: ``processes`` with the password in their words or environment, ``files`` that others may read."""

    def __init__(self, secret: str, roots: dict[str, Path]):
        self.wanted, self.roots = forms(secret), roots
        self.processes: set[str] = set()
        self.files: set[str] = set()
        self.rounds = 0
        self.names: set[str] = set()

    def look(self) -> None:
        """Every process of this machine, those of the hosts included, and what the lab writes on both hosts."""
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
        """Whether any form of the password stands in a file."""
        content = path.read_bytes()
        return any(form in content for form in self.wanted)

    def found_below(self, folder: Path, since: float) -> list[str]:
        """Files below a folder that hold the password, among those written since then."""
        found = []
        for path in below(folder):
            with suppress(OSError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) and status.st_mtime >= since and self.holds(path):
                    found.append(str(path))
        return found


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Look again and again, as fast as it goes, while the block runs."""
    done = threading.Event()

    def work() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)  # to miss no short program
        while not done.wait(0.005):
            watch.look()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
