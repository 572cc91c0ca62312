"""A run that has been reported on, with every figure: no test changes it."""

import pytest
from support.synthetic_runs import write_run

from lab.report import run_report
from lab.report.analysis import Analysis
from lab.results import run_folder
from lab.results.run_folder import RunFolder

LEFT_OUT = dict.fromkeys(("one", "two"), "client: no mount_afp: <gone>")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    made = write_run(tmp_path_factory.mktemp("results"))
    made.update(left_out=LEFT_OUT)
    run_report.write(made)
    return made


@pytest.fixture(scope="session")
def page(folder: RunFolder) -> str:
    return (folder.report_path / "report.html").read_text()


@pytest.fixture(scope="session")
def analysis(folder: RunFolder) -> Analysis:
    return Analysis(run_folder.load(folder.path))
