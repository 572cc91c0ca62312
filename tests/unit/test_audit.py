"""`make audit` fails for a known vulnerability alone, and says where it could not ask."""

import subprocess
from pathlib import Path

import pytest
from support.paths import ROOT

# As pip-audit 2 prints them; the first by hand, for no database of vulnerabilities could be asked
VULNERABLE = """\
Name  Version ID            Fix Versions
----- ------- ------------- ------------
numpy 1.0     PYSEC-2021-1  1.1,2.0
"""
SKIPPED = """\
Name  Skip Reason
----- ------------------------------------------------------------------
scipy Dependency not found on PyPI and could not be audited: scipy (1.0)
"""
NUMPY = "numpy 1.0     PYSEC-2021-1  1.1,2.0"
NOT_DONE = "NOT DONE: the database of vulnerabilities cannot be reached"


@pytest.mark.parametrize(
    ("report", "its_code", "code", "out", "err"),
    [
        ("", 0, 0, "2 packages: 0 known vulnerabilities", ""),
        (VULNERABLE, 1, 1, f"{NUMPY}\n2 packages: 1 known vulnerabilities", ""),
        (f"{VULNERABLE}\n{SKIPPED}", 1, 1, f"{NUMPY}\n1 packages: 1 known vulnerabilities", "1 more:\n    scipy Dep"),
        (SKIPPED, 0, 0, "1 packages: 0 known vulnerabilities", "nothing is known of 1 more:\n    scipy Dependency not"),
        (SKIPPED + SKIPPED.splitlines()[-1], 0, 0, "", f"{NOT_DONE} scipy Dependency not found"),
        ("", 1, 0, "", NOT_DONE),
    ],
)
def test_the_report(report: str, its_code: int, code: int, out: str, err: str, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(report)
    command = [str(ROOT / "scripts" / "audit_report.sh"), str(tmp_path / "report"), str(its_code), "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (code, out)
    assert err in done.stderr if err else not done.stderr
