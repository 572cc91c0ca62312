"""What the docs do with a run from elsewhere."""

import runpy
import shutil
from pathlib import Path

import pytest

from lab.base import shipped

SCRIPT = Path(__file__).with_name("notebooks") / "from_elsewhere.py"


def test_a_zip_file_of_a_run_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(shipped.examples()["example"], tmp_path / "share-run.zip")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(SCRIPT))
    assert capsys.readouterr().out.startswith("-21.67")  # `lab show example` has it as -22 %
