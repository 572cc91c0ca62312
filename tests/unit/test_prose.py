"""Plain English, as far as a pattern can tell: docstrings, comments and docs have short sentences and no dialect."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.paths import ROOT

MOST_WORDS = 25
PATTERNS = {
    "begins with Have, Of or What of": re.compile(r"^(Have|Of|What of) "),
    "', for' instead of because": re.compile(r", for (it|he|she|they|there|this|these|those|nobody|nothing|such)\b"),
    "a pronoun without its noun": re.compile(r"\b(those|that|these) of (both|some|it|them|which|what)\b"),
}
SENTENCE_END = re.compile(r"[.:;?!]\)?(?:\*\*)?\s+|\n\s*\n|\n\s*[-*] ")
NOT_PROSE = re.compile(r"noqa|type: ignore|fmt:|shellcheck|usage:|!")


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments that follow each other on lines of their own are one text."""
    first, last, block = 0, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or NOT_PROSE.match(words := token.string.lstrip("#: ")):
            continue
        line = token.start[0]
        if token.line.lstrip().startswith("#") and line == last + 1:
            block += f"\n{words}"
        else:
            yield first, block
            first, block = line, words
        last = line if token.line.lstrip().startswith("#") else 0
    yield first, block


def _faults(text: str) -> Iterator[str]:
    for sentence in SENTENCE_END.split(re.sub(r"``[^`]*``|`[^`]*`|:\w+:", "X", text)):
        words = re.findall(r"[\w’'-]*[A-Za-z][\w’'-]*", sentence)
        short = " ".join(sentence.split())
        if len(words) > MOST_WORDS:
            yield f"{len(words)} words: {short}"
        yield from (f"{fault}: {short}" for fault, pattern in PATTERNS.items() if pattern.search(short))


@pytest.mark.parametrize("folder", ["lab", "emulated_mac", "tests", "benchmarks"])
def test_code_is_explained_in_plain_english(folder: str) -> None:
    faults = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text()
        for line, prose in [*_docstrings(ast.parse(text)), *_comments(text)]:
            faults += [f"{path.relative_to(ROOT)}:{line}: {fault}" for fault in _faults(prose)]
    assert not faults, "\n".join(["", *faults])


def _prose_of_page(text: str) -> str:
    """A page without code, tables, headings and the targets of links; an item of a list is a text of its own."""
    text = re.sub(r"^(```|~~~).*?^\1", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(\||#|:::).*$", "\n\n", text, flags=re.MULTILINE)
    return re.sub(r"^\s*(\d+\.|[-*]) ", "\n\n", re.sub(r"\]\([^)]*\)", "]", text), flags=re.MULTILINE)


def test_pages_are_in_plain_english(tmp_path: Path) -> None:
    """The pages in git, and those that follow from the code as it is now."""
    subprocess.run([sys.executable, ROOT / "docs/reference/generate.py", tmp_path], check=True)
    kept = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - set((ROOT / "docs/gallery").glob("*"))
    pages = {*tmp_path.glob("*.md"), *(page for page in kept if not page.read_text().startswith("% Written by "))}
    faults = [f"{page.name}: {fault}" for page in sorted(pages) for fault in _faults(_prose_of_page(page.read_text()))]
    assert not faults, "\n".join(["", *faults])
