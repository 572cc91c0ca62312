"""`lab compare --over-pairs`: what it prints, its JSON, its page, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.commands import Command
from support.runs_to_compare import write_pairs


def test_effects_over_pairs_are_printed_and_their_json(done: Command, tmp_path: Path) -> None:
    paths = [run.path for run in write_pairs(tmp_path, [0.2, 0.25, 0.3], [{"kernel": f"6.{n}"} for n in range(3)])]
    plain = " ".join(done("compare", *paths, "--over-pairs").split())
    assert plain.startswith("3 pairs of hosts, taken as a sample of pairs")
    kernel = "One pair a value: server kernel. What that does cannot be told from the pair"
    assert [text for text in ("over 3 pairs", kernel, "all cases, P2") if text not in plain] == []
    comparison = json.loads(done("compare", "--json", "--over-pairs", *paths))
    assert (len(comparison["pairs"]), comparison["answer"][0][:16]) == (3, "3 pairs of hosts")


def test_the_page_is_written_without_names(done: Command, tmp_path: Path) -> None:
    paths = [run.path for run in write_pairs(tmp_path, [0.2, 0.25, 0.3])]
    page, named = (tmp_path / name / "compare.html" for name in ("page", "named"))
    printed = done("compare", *paths, "--over-pairs", "--to", page.parent)
    assert printed.startswith("3 pairs of hosts")
    assert str(page) in printed.splitlines()
    assert "pair1-client" not in page.read_text()
    done("compare", *paths, "--over-pairs", "--to", named.parent, "--no-redact")
    assert "pair1-client" in named.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["one", "two", "--fail-if", "slower-than 10%"], "not with --over-pairs"),
        (["one", "one"], "the same run as"),
        (["published", "one"], "--over-pairs: not with published"),
    ],
)
def test_what_has_no_effect_is_refused(refused: Command, tmp_path: Path, words: list[str], message: str) -> None:
    runs = zip(("one", "two"), write_pairs(tmp_path, [0.2, 0.25]), strict=True)
    paths = {name: str(run.path) for name, run in runs}
    assert message in refused("compare", *(paths.get(word, word) for word in words), "--over-pairs")
