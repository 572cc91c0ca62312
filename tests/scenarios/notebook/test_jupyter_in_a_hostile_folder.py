"""`lab notebook` in a folder full of names that Jupyter, IPython, Python and matplotlib look for."""

import json
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from support import hostile_folder
from support.waiting import wait_until

from lab.base import shipped
from lab.notebook import export

SECONDS = 300
LOOK = """
import os, sys, matplotlib
print(os.getcwd(), os.listdir(), [path for path in sys.path if path in ("", os.getcwd(), os.environ["LAB_FOLDER"])])
print(matplotlib.rcParams["font.size"], os.environ["LAB_FOLDER"])
"""


class JupyterServer:
    """A Jupyter server that `lab notebook` started."""

    def __init__(self, runtime: Path):
        self.runtime = runtime
        wait_until(self._answers, "Jupyter", SECONDS)

    def _answers(self) -> bool:
        """Whether the server answers: it writes its address before it listens there."""
        for path in self.runtime.glob("jpserver-*.json"):
            with suppress(ValueError, OSError):
                self.about = json.loads(path.read_text())
                self.ask("status", None)
                return True
        return False

    def ask(self, path: str, data: Any) -> Any:
        address, token = f"{self.about['url']}api/{path}", {"Authorization": f"token {self.about['token']}"}
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(address, body, token)  # noqa: S310 – loopback
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return json.load(answer)

    def kernel(self, notebook: str) -> BlockingKernelClient:
        asked = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        session = self.ask("sessions", asked)
        client = BlockingKernelClient(connection_file=str(self.runtime / f"kernel-{session['kernel']['id']}.json"))
        client.load_connection_file()
        client.start_channels()
        wait_until(lambda: _is_ready(client), "the kernel", SECONDS)
        return client


def _is_ready(client: BlockingKernelClient) -> bool:
    with suppress(RuntimeError):  # a kernel without a heartbeat yet counts as dead
        client.wait_for_ready(timeout=SECONDS)
        return True
    return False


def printed(client: BlockingKernelClient, code: str) -> str:
    """The output of a cell, which must not fail."""
    texts: list[str] = []
    reply = client.execute_interactive(
        code, timeout=SECONDS, output_hook=lambda message: texts.append(str(message["content"].get("text", "")))
    )
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(texts)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A hostile folder without the notebook, but with a checkpoint of the notebook that leads elsewhere."""
    folder = hostile_folder.make_hostile(tmp_path / "hostile", tmp_path / "bait")
    (folder / "design.ipynb").unlink()
    (tmp_path / "victim").write_text("what must not change\n")
    checkpoint = folder / ".ipynb_checkpoints" / "design-checkpoint.ipynb"
    checkpoint.unlink()
    checkpoint.symlink_to(tmp_path / "victim")
    yield folder
    assert not (tmp_path / "bait").exists(), (tmp_path / "bait").read_text()
    assert (tmp_path / "victim").read_text() == "what must not change\n"


def test_server_and_kernels_use_nothing_of_it(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser, the notebook is opened, its first cell is run, and the notebook is saved."""
    with socket.create_server(("127.0.0.1", 0)) as free:  # Jupyter takes another port if this one is taken meanwhile
        settings = {"open_browser": False, "allow_root": True, "port": free.getsockname()[1]}
    for name in ("config", "runtime", "home"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"JUPYTER_{name.upper()}_DIR", str(tmp_path / name))
    (tmp_path / "config" / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": settings}))
    with hostile_folder.start([["notebook", "design", "example"]], place, tmp_path / "home") as process:
        try:
            server = JupyterServer(tmp_path / "runtime")
            client = server.kernel("design.ipynb")
            cells = export.read(shipped.notebooks()["design"]).cells
            printed(client, next(cell.source for cell in cells if cell.cell_type == "code"))
            where, figures = printed(client, LOOK).splitlines()
            assert server.ask("contents/design.ipynb/checkpoints", {})["id"] == "checkpoint"
            client.stop_channels()
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)
    assert where.endswith(" [] []")
    assert figures == f"10.0 {place}"
    assert not Path(where.split()[0]).exists()
