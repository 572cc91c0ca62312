"""A run from the web: a packed run, or the address of a run folder. It may come from anybody.

Only http and https are used, also after a redirection, and never http after https. The download is limited in bytes and
in time, and only the files of a run are written, into a new private folder.
"""

import http.client
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO

from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.results import packed_run
from lab.results.packed_run import BLOCK, MOST_BYTES, OPTIONAL, RUN
from lab.results.run_folder import TemporaryRun

SCHEMES = ("http", "https")
ANSWER_S = 15  # until the server's next byte
WHOLE_S = 300  # until the last one: 64 MiB at 2 Mbit/s
HEADERS = {"User-Agent": "file-share-lab", "Accept-Encoding": "identity"}
_REMEDY = "give the address of a zip file, or of a folder with run.json and trials.jsonl, as `lab export` writes it"


class Fetched(TemporaryRun):
    """A run from an address. Raises BadInput."""

    def __init__(self, address: str):
        parts = _check(address)
        label = _shown(parts)
        super().__init__("fetched", label, lambda folder: _in_time(lambda: _fetch(parts, folder), label))


def _check(address: str) -> urllib.parse.SplitResult:
    """The parts of an address that may be read. Raises BadInput for any other."""
    shown = one_line(address, 200)
    try:
        parts = urllib.parse.urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise BadInput(f"{shown}: not an address: {error}", _REMEDY) from error
    if parts.scheme not in SCHEMES:
        raise BadInput(f"{parts.scheme}: a run is read from http and https addresses only", _REMEDY)
    if "@" in parts.netloc:
        raise BadInput(f"{one_line(parts.hostname or '', 100)}: an address with a name or a password in it is not read",
                       "download the run, and give its path")  # fmt: skip
    if not parts.hostname or port == 0 or not address.isascii() or not address.isprintable() or " " in address:
        raise BadInput(f"{shown}: not an address", _REMEDY)
    return parts


def _shown(parts: urllib.parse.SplitResult) -> str:
    """An address without its query, which may hold a key."""
    return one_line(urllib.parse.urlunsplit((*parts[:3], "", "")), 300)


def _fetch(parts: urllib.parse.SplitResult, folder: Path) -> None:
    if parts.path.endswith(".zip"):
        archive = folder.with_name("fetched.zip")
        _download(parts.geturl(), archive, packed_run.MOST_ZIP_BYTES)
        packed_run.unpack(archive, folder, _REMEDY, _shown(parts))
        return
    folder.mkdir()
    top = parts.path.removesuffix(RUN).removesuffix("/")
    for name, most in MOST_BYTES.items():
        address = parts._replace(path=f"{top}/{name}", fragment="").geturl()
        _download(address, folder / name, most, may_lack=name in OPTIONAL)


def _download(address: str, to: Path, most: int, may_lack: bool = False) -> None:
    """Download into a new file. Raises BadInput, unless it is not there and ``may_lack``."""
    shown = one_line(address.partition("?")[0], 300)
    request = urllib.request.Request(address, headers=HEADERS)  # noqa: S310 – the scheme has been looked at
    try:
        with _opener().open(request, timeout=ANSWER_S) as answer:
            _write(answer, to, most)
    except urllib.error.HTTPError as error:
        error.close()
        if not (may_lack and error.code in (403, 404, 410)):
            why = one_line(f"{error.code} {error.reason}", 100)
            raise BadInput(f"{shown}: the server answered {why}", _REMEDY) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        why = one_line(str(reason), 200) or type(error).__name__
        raise BadInput(f"{shown}: cannot be read: {why}", "look at the address in a browser") from error


def _write(answer: HTTPResponse, to: Path, most: int) -> None:
    """Write a whole answer. Raises ValueError if it is too large, or was cut short."""
    size, promised = 0, answer.headers.get("Content-Length", "")
    with to.open("xb") as file:
        while block := answer.read1(BLOCK):  # what has arrived: a slow server does not block it
            size += len(block)
            if size > most:
                raise ValueError(f"larger than {most >> 20} MiB, which no run is")
            file.write(block)
    if promised.isdecimal() and int(promised) != size:
        raise ValueError(f"{size} of {promised} bytes came")


class _SameOrSafer(urllib.request.HTTPRedirectHandler):
    """Follows redirections to http and https, and not from https to http."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme not in SCHEMES or (req.type == "https" and scheme == "http"):
            fp.close()
            raise urllib.error.URLError(f"it leads from {req.type} to {scheme or 'nowhere'}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """An opener for only http and https: Python's own opener also reads files and speaks ftp."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(), urllib.request.UnknownHandler(), urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(), urllib.request.HTTPDefaultErrorHandler(), _SameOrSafer(),
        urllib.request.HTTPErrorProcessor(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener


def _in_time(fetch: Callable[[], None], label: str) -> None:
    """Fetch within WHOLE_S, even from a server that sends its headers one by one. Raises what ``fetch`` does."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            fetch()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    thread.join(WHOLE_S)
    if thread.is_alive():
        raise BadInput(f"{label}: did not arrive within {WHOLE_S} s", "download the run, and give its path")
    for error in raised:
        raise error
