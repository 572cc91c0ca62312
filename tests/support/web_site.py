"""A web server on loopback, and the files of a run that it serves."""

import http.server
import io
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lab.base.errors import BadInput
from lab.results import open_run
from lab.results.run_folder import RunFolder

Answer = Callable[[http.server.BaseHTTPRequestHandler], object]


class Site:
    """A web server on loopback: its answers by path, and the requests."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.answers.get(urlsplit(self.path).path, missing)(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def serve(self, path: str, content: bytes) -> None:
        self.answers[path] = lambda handler: send(handler, content)


def send(handler: http.server.BaseHTTPRequestHandler, content: bytes, length: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content) if length is None else length))
    handler.end_headers()
    handler.wfile.write(content)


def missing(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_error(404)


def leading_to(address: str) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return answer


def content_of(run: RunFolder) -> dict[str, bytes]:
    return {name: (run.path / name).read_bytes() for name in ("run.json", "trials.jsonl", "samples.jsonl")}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def refusal(name: str | Path) -> str:
    with pytest.raises(BadInput) as raised:
        open_run(name)
    return str(raised.value)
