"""`lab notebook` in a folder full of names that Jupyter, IPython, Python and matplotlib look for where they run."""

import json
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from support import hostile_folder

from lab.base import shipped
from lab.notebook import export

SECONDS = 300
LOOK = """
import os, sys, matplotlib
print(os.getcwd(), os.listdir(), [path for path in sys.path if path in ("", os.getcwd(), os.environ["LAB_FOLDER"])])
print(matplotlib.rcParams["font.size"], os.environ["LAB_FOLDER"])
"""


class Server:
    """A Jupyter server that `lab notebook` started."""

    def __init__(self, runtime: Path):
        self.runtime = runtime
        deadline = time.monotonic() + SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, "Jupyter did not start"
            time.sleep(0.1)

    def _answers(self) -> bool:
        """It writes where it is before it listens there."""
        for path in self.runtime.glob("jpserver-*.json"):
            with suppress(ValueError, OSError):
                self.about = json.loads(path.read_text())
                self.ask("status", None)
                return True
        return False

    def ask(self, path: str, data: Any) -> Any:
        request = urllib.request.Request(  # noqa: S310 – loopback
            f"{self.about['url']}api/{path}",
            None if data is None else json.dumps(data).encode(),
            {"Authorization": f"token {self.about['token']}"},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return json.load(answer)

    def kernel(self, notebook: str) -> BlockingKernelClient:
        asked = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        session = self.ask("sessions", asked)
        client = BlockingKernelClient(connection_file=str(self.runtime / f"kernel-{session['kernel']['id']}.json"))
        client.load_connection_file()
        client.start_channels()
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                client.wait_for_ready(timeout=SECONDS)
            except RuntimeError:  # a kernel that has no heartbeat yet counts as dead
                assert time.monotonic() < deadline, "the kernel did not start"
            else:
                return client


def free_port() -> int:
    """One to begin with; Jupyter takes another one where that is taken meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def printed(client: BlockingKernelClient, code: str) -> str:
    """What a cell prints; it must not fail."""
    texts: list[str] = []
    reply = client.execute_interactive(
        code, timeout=SECONDS, output_hook=lambda message: texts.append(str(message["content"].get("text", "")))
    )
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(texts)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A hostile folder without the notebook that is opened, but with a checkpoint of it that leads elsewhere."""
    folder = hostile_folder.make_hostile(tmp_path / "hostile", tmp_path / "bait")
    (folder / "design.ipynb").unlink()
    (tmp_path / "victim").write_text("what must not change\n")
    checkpoint = folder / ".ipynb_checkpoints" / "design-checkpoint.ipynb"
    checkpoint.unlink()
    checkpoint.symlink_to(tmp_path / "victim")
    yield folder
    assert not (tmp_path / "bait").exists(), (tmp_path / "bait").read_text()
    assert (tmp_path / "victim").read_text() == "what must not change\n"


def test_server_and_kernels_read_and_run_nothing_of_it(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened, its first cell is run, and it is saved, as by a browser."""
    settings = {"open_browser": False, "allow_root": True, "port": free_port()}
    for name in ("config", "runtime", "home"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"JUPYTER_{name.upper()}_DIR", str(tmp_path / name))
    (tmp_path / "config" / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": settings}))
    with hostile_folder.start([["notebook", "design", "example"]], place, tmp_path / "home") as process:
        try:
            server = Server(tmp_path / "runtime")
            client = server.kernel("design.ipynb")
            cells = [
                cell.source for cell in export.read(shipped.notebooks()["design"]).cells if cell.cell_type == "code"
            ]
            printed(client, cells[0])
            where, figures = printed(client, LOOK).splitlines()
            assert server.ask("contents/design.ipynb/checkpoints", {})["id"] == "checkpoint"
            client.stop_channels()
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)
    assert where.endswith(" [] []")
    assert figures == f"10.0 {place}"
    assert not Path(where.split()[0]).exists()
