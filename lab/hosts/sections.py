"""The text of a hosts file as sections of keys; and where such a file may lie."""

from __future__ import annotations

import configparser
import os
import re
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import from_json
from lab.base.validation import read_text

RESULTS = "results"  # the folder of the runs, in the current one
RUN_FILES = ("run.json", "journal.jsonl")
ONLY_WHERE_NAMED = ("proxy_command", "known_hosts")  # which run a program here, and say what other host to believe


def parse_sections(text: str, path: Path) -> dict[str, dict[str, str]]:
    """The keys of each section, and their values. Raises BadInput; ``path`` is named in it."""
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:
            raise BadInput(f"{path}: line {number}: has a NUL character, which no value may have")
        if re.match(r"\s*\[[^]]*\]\s*[^\s#;]", line):  # the parser would take the section and forget the rest
            raise BadInput(f"{path}: line {number}: after [section] the line must end")
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"), default_section="\0")
    try:
        parser.read_string(text, str(path))
    except configparser.ParsingError as error:
        # its own message would repeat the line, which may hold a password
        where = getattr(error, "lineno", None) or error.errors[0][0]
        raise BadInput(f"{path}: line {where}: neither [section] nor `key = value` inside a section") from None
    except configparser.Error as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from error
    content = {name: dict(parser[name]) for name in parser.sections()}
    for section, key in ((section, key) for section, keys in content.items() for key in keys):
        if "\n" in content[section][key]:  # an indented key would silently become part of the one above it
            raise BadInput(f"{path}: [{section}] {key}: goes on in the next line; a key must not be indented")
    return content


def parse_json_sections(text: str, path: Path) -> dict[str, dict[str, str]]:
    """The same of a file that holds them as JSON. Raises BadInput; ``path`` is named in it."""
    try:
        content = from_json(text)
    except ValueError as error:
        raise BadInput(f"{path}: not valid JSON: {error}") from error
    sections = content.values() if isinstance(content, dict) else (None,)
    if not all(isinstance(keys, dict) and all(isinstance(value, str) for value in keys.values()) for keys in sections):
        raise BadInput(f"{path}: not an object of sections whose keys are texts")
    return dict(content)


def check_place(path: Path, results: Path = Path(RESULTS)) -> None:
    """Raise BadInput for a hosts file in a run folder or among ``results``, or others that are called so.

    It names commands that this machine runs (``proxy_command``) and files that are sent to hosts, while a run folder is
    data that comes from anywhere. Folders are compared by what they are, not by their names: a name may be a link, or
    be written in capitals.
    """
    if folder := results_around(path, results):
        raise BadInput(
            f"{path}: lies in {folder}, among results, and those may be somebody else's: it is not read",
            "look at it, and copy what is right to a hosts file outside",
        )


def check_unnamed(path: Path) -> None:
    """Raise BadInput for a hosts file that nobody named, and that has keys which count only in one that somebody did.

    It is that of the current folder, which may be a download or a share.
    """
    if not os.path.lexists(path):
        return  # the error about that says what to do
    for section, keys in parse_sections(read_text(path, ""), path).items():
        for key in filter(keys.__contains__, ONLY_WHERE_NAMED):
            raise BadInput(
                f"{path}: [{section}] {key}: not taken from a file that was only found in the current folder",
                f"look at it, and name it: `--hosts {path}`; or give the same for that host in ~/.ssh/config",
            )


def results_around(path: Path, results: Path = Path(RESULTS)) -> Path | None:
    """The folder of a run, or of runs, that a file or folder is in, or is itself. Raises BadInput."""
    try:
        real = path.resolve(strict=True)
        return next((folder for folder in (real, *real.parents) if _holds_results(folder, results)), None)
    except FileNotFoundError:
        return None  # the error about that says what to do
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def _holds_results(folder: Path, results: Path) -> bool:
    """Whether a folder is that of a run, or holds those of runs."""
    if any(os.path.lexists(folder / name) for name in RUN_FILES):
        return True
    if os.path.lexists(results) and results.exists() and folder.samefile(results):
        return True
    is_called_so = folder.name.casefold() == RESULTS
    return is_called_so and any(any(folder.glob(f"*/{name}")) for name in RUN_FILES)
