"""Runs `lab` commands in forks of one process that has imported everything: a new interpreter takes a second.

As a program it serves on a Unix socket; :class:`LabServer` starts and asks it."""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import resource
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lab.local import syscalls
from support.paths import ROOT, TESTS

# commands import these modules, and with them pandas, matplotlib and paramiko
IMPORTED = ("check.doctor", "cli.progress", "report.answer", "report.run_report", "results.dataframe", "run.lifecycle")


@cache
def lab_server() -> LabServer:
    """The server of this test process."""
    server = LabServer()
    atexit.register(server.close)
    return server


class LabServer:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lab-server-")
        self._socket = f"{self._folder.name}/socket"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.lab_server", self._socket],
            env=os.environ | {"PYTHONPATH": f"{ROOT}:{TESTS}", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # signals to the test run must spare it: it takes local labs down
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == b"ready\n"

    def run(
        self, argv: Sequence[str], directory: Path, timeout: float, environment: Mapping[str, str],
        limits: Mapping[int, int] | None = None,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run ``lab`` with these words in a folder, within ``limits`` (RLIMIT_…). Raises TimeoutExpired."""
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder, socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._socket)
            answers = connection.makefile("r")
            request = {
                "argv": list(argv), "directory": str(directory), "environment": dict(environment), "out": folder,
                "limits": list((limits or {}).items()),
            }  # fmt: skip
            connection.sendall(json.dumps(request).encode() + b"\n")
            pid = int(answers.readline())
            connection.settimeout(timeout)
            try:
                code = int(answers.readline())
            except TimeoutError:
                os.killpg(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["lab", *argv], timeout) from None
            out, err = (Path(folder, name).read_text(errors="replace") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(["lab", *argv], code, out, err)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        syscalls.die_with_parent(os.getppid())
        request = json.loads(self.rfile.readline())
        handler, pid = os.getpid(), os.fork()
        if pid == 0:
            syscalls.die_with_parent(handler, signal.SIGTERM)  # it restores what it changed
            _be_lab(request)
        self.wfile.write(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        self.wfile.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())


class _Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    max_children = 100


def _be_lab(request: dict[str, Any]) -> None:
    from lab.cli import main as cli

    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{request['out']}/{name}", os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    for what, most in request["limits"]:
        resource.setrlimit(what, (most, most))
    code = 70
    try:
        code = cli.main(request["argv"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_with_parent() -> None:
    """End when standard input closes, however the test process ended."""
    os.read(0, 1)
    os._exit(0)


def serve(path: str) -> None:
    """Import what commands import, print ``ready``, and serve until killed."""
    for name in IMPORTED:
        importlib.import_module(f"lab.{name}")
    gc.collect()
    gc.freeze()  # else each fork looks for cycles in all imported objects, and copies their pages
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with _Server(path, _Handler) as server:
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve(sys.argv[1])
