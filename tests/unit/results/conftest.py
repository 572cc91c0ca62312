"""A web server, and a run to be served."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.synthetic_runs import make_trials, write_run
from support.web_site import Site

from lab.results.run_folder import RunFolder


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = write_run(tmp_path / "there", make_trials(2, combinations=[("afp", "cp")]))
    folder.append_samples("b1-001", {"client": {"at_s": [0, 1]}})
    return folder
