"""The text of a hosts file as sections of keys; where such a file may lie; and lines that are still to be filled in."""

import configparser
import os
import re
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import from_json
from lab.base.validation import read_text

RESULTS = "results"  # the folder of runs, in the current folder
RUN_FILES = ("run.json", "journal.jsonl")
ONLY_WHERE_NAMED = ("proxy_command", "known_hosts")  # they run a program here, or decide which host is trusted
# The end of a line to fill in. It counts as filled in once its value, or the mark, is another: a machine may really
# be called client.local
MARK = "<--"
# The lines of the template without comments: a test compares them
LINES = (
    "[client]", "host = client.local", "user = you", "data_address = 192.168.77.1", "sudo = password",
    "[server]", "host = server.local", "user = you", "data_address = 192.168.77.2", "sudo = password",
    "[share]", "serve = lab", "account = you", "password = prompt",
)  # fmt: skip
# Not the addresses: they are right for whoever follows the guide for two machines
PLACEHOLDERS = ("host = client.local", "host = server.local", "user = you", "account = you")


def parse_sections(text: str, path: Path) -> dict[str, dict[str, str]]:
    """The keys and values of each section. Raises BadInput that names ``path``."""
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:
            raise BadInput(f"{path}: line {number}: has a NUL character, which no value may have")
        if re.match(r"\s*\[[^]]*\]\s*[^\s#;]", line):  # the parser would ignore the rest
            raise BadInput(f"{path}: line {number}: after [section] the line must end")
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"), default_section="\0")
    try:
        parser.read_string(text, str(path))
    except configparser.ParsingError as error:
        # the message of the parser would repeat the line, which may hold a password
        where = getattr(error, "lineno", None) or error.errors[0][0]
        raise BadInput(f"{path}: line {where}: neither [section] nor `key = value` inside a section") from None
    except configparser.Error as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from error
    content = {name: dict(parser[name]) for name in parser.sections()}
    for section, key in ((section, key) for section, keys in content.items() for key in keys):
        if "\n" in content[section][key]:  # an indented key would silently continue the one above
            raise BadInput(f"{path}: [{section}] {key}: goes on in the next line; a key must not be indented")
    return content


def parse_json_sections(text: str, path: Path) -> dict[str, dict[str, str]]:
    """The sections in a JSON file. Raises BadInput that names ``path``."""
    try:
        content = from_json(text)
    except ValueError as error:
        raise BadInput(f"{path}: not valid JSON: {error}") from error
    sections = content.values() if isinstance(content, dict) else (None,)
    if not all(isinstance(keys, dict) and all(isinstance(value, str) for value in keys.values()) for keys in sections):
        raise BadInput(f"{path}: not an object of sections whose keys are texts")
    return dict(content)


def check_place(path: Path, results: Path = Path(RESULTS)) -> None:
    """Raise BadInput for a hosts file in a run folder, or in ``results`` or another folder of runs with that name.

    A hosts file names commands that run here (``proxy_command``), while a run folder may come from anywhere.
    """
    if folder := results_around(path, results):
        message = f"{path}: lies in {folder}, among results, and those may be somebody else's: it is not read"
        raise BadInput(message, "look at it, and copy what is right to a hosts file outside")


def check_unnamed(path: Path) -> None:
    """Raise BadInput if a hosts file that was only found in the current folder has keys that are not trusted."""
    if not os.path.lexists(path):
        return  # reading it will say what to do
    for section, keys in parse_sections(read_text(path, ""), path).items():
        for key in filter(keys.__contains__, ONLY_WHERE_NAMED):
            remedy = f"look at it, and name it: `--hosts {path}`; or give the same for that host in ~/.ssh/config"
            message = f"{path}: [{section}] {key}: not taken from a file that was only found in the current folder"
            raise BadInput(message, remedy)


def results_around(path: Path, results: Path = Path(RESULTS)) -> Path | None:
    """The folder of a run, or of runs, that contains this path or is it. Raises BadInput."""
    try:
        real = path.resolve(strict=True)
        return next((folder for folder in (real, *real.parents) if _holds_results(folder, results)), None)
    except FileNotFoundError:
        return None  # reading it will say what to do
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def _holds_results(folder: Path, results: Path) -> bool:
    """Whether a folder is a run's, or contains folders of runs."""
    if any(os.path.lexists(folder / name) for name in RUN_FILES):
        return True
    if os.path.lexists(results) and results.exists() and folder.samefile(results):
        return True
    is_called_so = folder.name.casefold() == RESULTS
    return is_called_so and any(any(folder.glob(f"*/{name}")) for name in RUN_FILES)


def is_untouched(text: str) -> bool:
    """Whether a hosts file is the template, apart from comments."""
    return tuple(line for line in map(_without_comment, text.splitlines()) if line) == LINES


def check_filled_in(text: str, path: Path) -> None:
    """Raise BadInput that names each marked line that still has the value of the template."""
    section, missing = "", []
    for number, line in enumerate(text.splitlines(), 1):
        content = _without_comment(line)
        if content.startswith("["):
            section = content
        elif MARK in line and content in PLACEHOLDERS:
            missing.append(f"line {number} ({section} {content.partition(' ')[0]})")
    if missing:
        ways = f"`lab init` writes such a file from what it finds; where a value is right as it is, remove its {MARK}"
        raise BadInput(f"{path}: fill in the lines marked {MARK}: {', '.join(missing)}", ways)


def _without_comment(line: str) -> str:
    """A line without comment (as configparser reads it) and repeated spaces."""
    return " ".join(re.split(r"(?:^|\s)[#;]", line, maxsplit=1)[0].split())
