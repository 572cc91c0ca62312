"""The threat model of docs/explanation/security.md: what an attacker cannot do has a test, and that test exists."""

import ast
import re

import pytest
from support.paths import ROOT

PAGE = (ROOT / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
MODEL = PAGE.partition("\n## Attackers\n")[2].partition("\n## ")[0]
NAMED = re.compile(r"`(tests/[a-z0-9_/]+\.py)::(test_[a-z0-9_]+)`")
WHO = (
    "Who hands over a run folder", "Who reads what you publish", "Other users of a host",
    "Who has the account of a narrow sudo", "Other users of the controller", "A compromised host", "On the network",
)  # fmt: skip


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(PAGE))))
def test_a_test_that_is_named_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_attacker_is_there_and_every_attempt_has_its_test() -> None:
    sections = {section.partition("\n")[0]: section for section in MODEL.split("\n### ")[1:]}
    assert tuple(sections) == WHO
    for who, section in sections.items():
        rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
        assert len(rows) >= 3, who
        assert [row for row in rows if not NAMED.search(row)] == [], who
    assert MODEL.count("::") == len(NAMED.findall(MODEL)), "a name that no test can have"
