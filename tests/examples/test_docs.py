"""The pages are right: commands and options exist, sweeps plan, links lead somewhere, and groff takes the man page."""

import argparse
import functools
import gzip
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import guide
from support.commands import lab
from support.guide import COMMAND, FENCE, commands, shell_lines
from support.paths import ROOT, RUN_CAPTURES

from lab.cli.command import EXIT_CODES
from lab.cli.main import COMMANDS, parser
from lab.design import plan
from lab.design.sweep_file import load_sweep
from lab.run.case.catalogue import CATALOGUE
from lab.schemas.json_schemas import FILES

HERE = Path(__file__).parent
TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
GALLERY = ROOT / "docs/gallery"  # is written by `make gallery`
REFERENCE, METHODS = ROOT / "docs/reference", ROOT / "docs/explanation/methods.md"
IGNORED = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
GENERATED = [line.removeprefix("docs/reference/") for line in IGNORED if line.startswith("docs/reference/")]
PAGES = [*TOP, *(page for page in sorted((ROOT / "docs").rglob("*.md")) if GALLERY not in page.parents)]
SCRIPTS = sorted((HERE / "shell").glob("*.sh"))
SWEEPS = [*sorted((ROOT / "sweeps").glob("*.toml")), *sorted((HERE / "sweeps").glob("*.toml"))]
NAMING = ("", ".ini", ".ipynb", ".pl", ".py", ".sh", ".toml")  # files that name pages
PLACE = re.compile(r"(?:lab|tests|scripts|docs|sweeps|benchmarks)/|[a-z_]+/[a-z_/]+[.]py$")
DOTTED = re.compile(r"lab(?:[.][a-zA-Z_0-9]+)+")
EXAMPLES = ("protocols/sshfs", "workloads/install", "stores/ext2", "workloads/zeros", "platforms/freebsd")
TO_BE_MADE = {"docs/_build", *(f"lab/{name}.py" for name in EXAMPLES)}
TYPED = functools.cache(parser)  # making the parser takes as long as parsing hundreds of commands


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def mentions(path: Path) -> Iterator[str]:
    """The words after ``lab`` in inline code of a page's text."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text):
        if match := COMMAND.fullmatch(code):
            yield match[1]


def test_the_reference_is_written_from_the_code_beside_it_whatever_lab_is_installed(tmp_path: Path) -> None:
    (tmp_path / "lab.py").write_text("raise ImportError('another lab')\n")
    stamp = (REFERENCE / "commands.md").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "schema").mkdir()
    planted = {"old.md": f"{stamp}\n\n# Of an older lab\n", "by-hand.md": "# By hand\n", "schema/old.json": "{}"}
    for name, text in planted.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, str(REFERENCE / "generate.py"), str(tmp_path)]
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert {page.name for page in tmp_path.glob("*.[m1]*")} == {*GENERATED, "by-hand.md"}
    assert {page.name for page in tmp_path.glob("schema/*")} == {"columns.csv", *(f"{name}.json" for name in FILES)}
    assert all((tmp_path / name).read_text() == (REFERENCE / name).read_text() for name in GENERATED)


def keys_of(value: Any) -> set[str]:
    """Every key of a JSON object and its inner objects, except keys that hosts name themselves."""
    if not isinstance(value, dict):
        return set()
    inner = (keys_of(part) for name, part in value.items() if name not in ("core_busy", "tools", "about"))
    return set(value).union(*inner)


def test_every_key_of_real_run_folders_is_described() -> None:
    text = "".join((REFERENCE / name).read_text(encoding="utf-8") for name in ("run-folder.md", "observed.md"))
    described = {part for code in re.findall(r"`([^`\n]+)`", text) for part in code.split(".")}
    keys: set[str] = set()
    for file in RUN_CAPTURES.glob("*/run/*.json*.gz"):
        if file.name.startswith(("run", "trials", "samples")):
            content = gzip.decompress(file.read_bytes()).decode()
            lines = [content] if file.name.startswith("run") else content.splitlines()[:50]
            keys |= set().union(*(keys_of(json.loads(line)) for line in lines))
    plain = {key for key in keys if "." not in key and "-" not in key}  # else: a case, or an option of a mount
    assert len(plain) > 100
    assert plain - described == set()


@pytest.mark.parametrize("path", named([*PAGES, *SCRIPTS]))
def test_the_command_line_takes_every_line_in_a_block(path: Path) -> None:
    """The zsh of a Mac reads a comment after a command as more words of the command."""
    assert [line for line in shell_lines(path) if re.search(r"\S\s+#\s", line)] == []
    for words in commands(path):
        arguments = TYPED().parse_args(words)  # ends the test with what is wrong
        sweep = getattr(arguments, "sweep", None)
        assert sweep is None or len(sweep.parts) == 1 or (ROOT / sweep).exists(), sweep


@pytest.mark.parametrize("path", named(PAGES))
def test_every_command_and_option_in_a_text_exists(path: Path) -> None:
    for mention in mentions(path):
        command, words = TYPED(), mention.split()
        while words and (choices := subcommands(command)):
            assert words[0] in choices, f"lab {mention}"
            command = choices[words.pop(0)]
        options = {word for word in words[: words.index("--") if "--" in words else None] if word.startswith("--")}
        assert options <= command._option_string_actions.keys(), f"lab {mention}"


def subcommands(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    choices = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(choices[0].choices) if choices else {}


@pytest.mark.parametrize("path", named(PAGES))
def test_make_has_every_target_that_is_named(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = "\n".join([*re.findall(r"`([^`\n]+)`", path.read_text(encoding="utf-8")), *shell_lines(path)])
    assert set(re.findall(r"^(?:sudo )?make ([a-z-]+)", text, re.MULTILINE)) <= targets


@pytest.mark.parametrize("path", named(SWEEPS))
def test_every_sweep_plans(path: Path) -> None:
    sweep = load_sweep(path)
    assert sweep.description or path.is_relative_to(HERE)
    if path.name != "encryption.toml":  # whose option is itself an example: test_examples.py
        assert plan.plan(sweep, CATALOGUE).estimated_s > 0


@pytest.mark.parametrize("path", named(TOP))
def test_links_out_of_a_page_beside_the_documentation_lead_to_what_is_in_git(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert "://" in target or ((ROOT / target).exists() and target not in IGNORED), target


def test_pages_that_the_code_names_exist() -> None:
    folders = ("lab", "sweeps", "scripts", "tests", "notebooks", "benchmarks")
    files = [ROOT / "Makefile", ROOT / "hosts.ini", *(file for name in folders for file in (ROOT / name).rglob("*.*"))]
    naming = (file for file in files if file.suffix in NAMING and "captures" not in file.parts)
    texts = [file.read_text(encoding="utf-8") for file in naming]
    pages = {page for text in texts for page in re.findall(r"\bdocs/[\w/-]+\.md", text)}
    assert not {page for page in pages if not (ROOT / page).exists()}


@pytest.mark.parametrize("path", named([*PAGES, ROOT / "CHANGELOG.md"]))
def test_files_and_modules_that_a_page_names_exist(path: Path) -> None:
    code = set(re.findall(r"`([^`\s<>]+)`", FENCE.sub("", path.read_text(encoding="utf-8")))) - TO_BE_MADE
    places = {name.partition("::")[0] for name in code if PLACE.match(name)}
    assert not {name for name in places if not any((folder / name).exists() for folder in (ROOT, ROOT / "lab"))}
    for name in filter(DOTTED.fullmatch, code):
        pkgutil.resolve_name(name)  # raises for what is not there


@pytest.mark.parametrize("path", named(PAGES))
def test_code_in_a_page_is_a_file_that_a_test_runs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [language for language, _ in FENCE.findall(text) if language in ("python", "toml")]


@pytest.mark.parametrize("path", named([METHODS, *(page for page in PAGES if page.parent.name == "how-to")]))
def test_a_page_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").split()) <= (3500 if path == METHODS else 900)


def test_every_example_is_shown_somewhere() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"^```\{literalinclude\} (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    examples = {*SCRIPTS, *HERE.glob("sweeps/*.toml"), *HERE.glob("*/*.py")}
    assert {path for path in examples if "__pycache__" not in path.parts} <= shown


def test_each_command_of_the_guide_is_typed_or_says_why_not() -> None:
    """Where the local lab types them: tests/breadth/test_guide.py."""
    text, old = (page.read_text(encoding="utf-8") for page in (guide.PAGE, guide.OLD_PAGE))
    texts = {piece.text for page in (text, old) for piece in guide.pieces(page)}
    assert {**guide.TYPED, **guide.NOT_TYPED, **guide.PRINTS, **guide.ENDLESS}.keys() <= texts
    assert [piece for piece in guide.pieces(text) if piece.places]  # raises if the guide says nothing of a piece
    with pytest.raises(ValueError, match=r"say in .* where this is typed, or why not: networksetup"):
        assert next(guide.pieces("Type `networksetup -listlocations` there.")).places
    with pytest.raises(ValueError, match="nothing above this block says where it is typed: ls"):
        list(guide.pieces("Then:\n\n```sh\nls\n```\n"))


def test_the_answer_in_the_readme_is_that_of_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, err = lab(capsys, "show", "example")
    assert (code, shown != "") == (0, True), err
    assert f"```text\n{shown}```\n" in (ROOT / "README.md").read_text()


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_sets_the_man_page_without_a_warning() -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-P-c", str(REFERENCE / "lab.1")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if "utf8/DESC" in ended.stderr:  # a system with the formatter alone, for small pages
        pytest.skip("groff has no device for a terminal here")
    assert (ended.returncode, ended.stderr) == (0, "")
    text = " ".join(re.sub(".\b", "", ended.stdout).replace("‐ ", "-").split())
    named = {*(f" lab {name}" for name in COMMANDS), *(f" {code} " for code in EXIT_CODES)}
    named |= {"--results DIR", "--fail-if", "--hosts FILE", "--resume RUN"}
    assert {words for words in named if words not in text} == set()


def test_no_line_of_text_in_the_man_page_is_a_request() -> None:
    """roff obeys lines that begin with a full stop or an apostrophe."""
    macros = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".RI", ".BR", '.\\"'}
    for line in (REFERENCE / "lab.1").read_text(encoding="utf-8").splitlines():
        assert line[:1] not in (".", "'") or line.split()[0] in macros, line
