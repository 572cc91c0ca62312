"""A run by a path, a zip file or an address. What an address gives may be anybody's."""

import gc
import http.server
import threading
import time
from pathlib import Path

import pytest
from support.web_site import Site, content_of, leading_to, refusal, send, zipped

from lab.results import examples, fetched_run, open_run, packed_run
from lab.results.run_folder import RunFolder, load

# --- what is opened


@pytest.mark.parametrize("end", ["", "/", "/run.json"])
def test_a_folder_is_opened_by_its_address(site: Site, run: RunFolder, end: str) -> None:
    for name, content in content_of(run).items():
        site.serve(f"/runs/one/{name}", content)
    opened = open_run(f"{site.address}/runs/one{end}")
    assert load(opened.path)["trial_id"].equals(load(run.path)["trial_id"])
    assert opened.samples_path.read_bytes() == run.samples_path.read_bytes()
    assert opened.label == f"{site.address}/runs/one{end}"
    assert opened.path.parent.stat().st_mode & 0o077 == 0


def test_a_folder_without_samples_is_opened_and_its_query_goes_with_each_file(site: Site, run: RunFolder) -> None:
    for name in ("run.json", "trials.jsonl"):
        site.serve(f"/one/{name}", (run.path / name).read_bytes())
    opened = open_run(f"{site.address}/one?key=secret#top")
    assert not opened.samples_path.exists()
    assert site.asked == [f"/one/{name}?key=secret" for name in ("run.json", "trials.jsonl", "samples.jsonl")]
    assert "secret" not in opened.label


@pytest.mark.parametrize("folder", ["", "share-run/"])
def test_a_zip_file_is_opened_by_address_and_by_path(site: Site, run: RunFolder, tmp_path: Path, folder: str) -> None:
    content = zipped({f"{folder}{name}": content for name, content in content_of(run).items()})
    site.serve("/one.zip", content)
    (tmp_path / "one.zip").write_bytes(content)
    site.answers["/other.zip"] = leading_to("/one.zip")
    for place in (f"{site.address}/one.zip", f"{site.address}/other.zip", tmp_path / "one.zip"):
        opened = open_run(place)
        assert {path.name: path.read_bytes() for path in opened.path.iterdir()} == content_of(run)
    assert opened.label == str(tmp_path / "one.zip")


def test_the_copy_goes_with_the_object(site: Site, run: RunFolder) -> None:
    site.serve("/one.zip", zipped(content_of(run)))
    opened = open_run(f"{site.address}/one.zip")
    assert (path := opened.path).is_dir()
    del opened
    gc.collect()
    assert not path.parent.exists()


def test_paths_short_names_and_examples_are_opened(tmp_path: Path, run: RunFolder) -> None:
    assert open_run(run.path).path == run.path
    assert [open_run(name, tmp_path / "there").path for name in ("synthetic", None)] == [run.path] * 2
    assert isinstance(open_run("example"), examples.Example)


# --- what is refused


@pytest.mark.parametrize(("address", "why"), [
    ("ftp://127.0.0.1/one", "ftp: a run is read from http and https addresses only"),
    ("file:///etc/passwd", "file: a run is read from http and https addresses only"),
    ("smb://nas/media", "smb: a run is read from http and https addresses only"),
    ("http://ann:secret@127.0.0.1/one", "127.0.0.1: an address with a name or a password in it is not read"),
    ("http://", "not an address"),
    ("http://127.0.0.1:99999/", "not an address"),
    ("http://127.0.0.1/a b", "not an address"),
    ("http://127.0.0.1/a\r\nHost: x", "not an address"),
])  # fmt: skip
def test_other_addresses_are_refused_before_anything_is_asked(address: str, why: str) -> None:
    message = refusal(address)
    assert (why in message, "secret" in message) == (True, False)


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirection_to_another_scheme_is_not_followed(site: Site, to: str) -> None:
    site.answers["/one.zip"] = leading_to(to)
    message = refusal(f"{site.address}/one.zip")
    assert "it leads from http to ftp" in message or "is not allowed" in message
    assert site.asked == ["/one.zip"]


def test_redirections_without_end_and_what_does_not_arrive_whole_are_told_without_a_key(site: Site) -> None:
    site.answers["/one.zip"] = leading_to("/one.zip")
    assert "one.zip: the server answered 302" in refusal(f"{site.address}/one.zip")
    assert len(site.asked) < 20
    assert "cannot be read: " in refusal("http://127.0.0.1:1/one")
    site.answers["/one/run.json"] = lambda handler: send(handler, b"{}", length=10**6)
    assert "run.json: cannot be read: " in refusal(f"{site.address}/one")
    message = refusal(f"{site.address}/nothing?key=secret")
    expected = f"{site.address}/nothing/run.json: the server answered 404"
    assert (expected in message, "secret" in message) == (True, False)


def test_too_much_and_no_trials_are_refused(site: Site, run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(packed_run.MOST_BYTES, "trials.jsonl", 1 << 20)
    plain = b"HTTP/1.0 200 OK\r\n\r\n" + b" " * (2 << 20)
    site.answers["/two/trials.jsonl"] = lambda handler: handler.wfile.write(plain)
    site.serve("/two/run.json", (run.path / "run.json").read_bytes())
    assert "trials.jsonl: cannot be read: larger than 1 MiB" in refusal(f"{site.address}/two")
    site.serve("/one/run.json", (run.path / "run.json").read_bytes())
    site.serve("/one/trials.jsonl", b"")
    assert refusal(f"{site.address}/one").startswith(f"{site.address}/one: holds no trial: ")


@pytest.mark.parametrize("part", ["headers", "body"])
def test_a_server_that_drips_does_not_hold_it_up(site: Site, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    ended = threading.Event()

    def drip(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n" + (b"\r\n" if part == "body" else b""))
        while not ended.wait(0.05):
            handler.wfile.write(b"x")

    site.answers["/one.zip"] = drip
    monkeypatch.setattr(fetched_run, "WHOLE_S", 0.2)
    begin = time.monotonic()
    assert "did not arrive within 0.2 s" in refusal(f"{site.address}/one.zip")
    assert time.monotonic() - begin < 10
    ended.set()
