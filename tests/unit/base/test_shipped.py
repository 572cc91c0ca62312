"""What comes with the lab beside its code: in a checkout it is what stands there, in a wheel a copy of it."""

import re
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from support.paths import ROOT

import lab
from lab.base import shipped

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_wheel_has_every_file_that_is_shipped_and_sweeps_and_examples_have_names() -> None:
    for name in ("sweeps", "notebooks", "docs", "hosts.ini"):
        assert (shipped.FOLDER / name).samefile(ROOT / name)
    package = ROOT / "lab"
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["lab"]
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    assert {*shipped.sweeps().values(), *shipped.examples().values()} <= packed
    assert {shipped.HOSTS_TEMPLATE, *(shipped.PAGES / "how-to").glob("*.md")} <= packed
    files_of_assumptions = {*package.glob("p*/**/*assumptions*.toml")}
    assert len(files_of_assumptions) == 4
    assert files_of_assumptions <= packed
    assert {*shipped.notebooks().values(), package / "notebook" / "page.css"} <= packed
    assert shipped.sweeps().keys() == {path.stem for path in (ROOT / "sweeps").glob("*.toml")}
    assert shipped.examples().keys() == {"example", "example-delay"}
    assert all(path.stat().st_size < 300_000 for path in shipped.examples().values())


def asked_for() -> dict[str, set[str]]:
    """The bounds of each package in pyproject.toml, by name."""
    extras = PROJECT["project"]["optional-dependencies"]
    texts = [*PROJECT["project"]["dependencies"], *(text for extra in extras.values() for text in extra)]
    asked: dict[str, set[str]] = {}
    for requirement in map(Requirement, texts):
        asked.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    return asked


def beside() -> list[Requirement]:
    """What the files of requirements ask for by themselves: a line that begins with `-e` refers to pyproject.toml."""
    lines = [line for path in ROOT.glob("requirements*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]


def test_each_version_stands_in_one_place() -> None:
    asked = asked_for()
    assert {name: bounds for name, bounds in asked.items() if len(bounds) > 1} == {}
    assert {extra.name for extra in beside() if canonicalize_name(extra.name) in asked} == set()
    assert PROJECT["build-system"]["requires"] == [str(extra) for extra in beside() if extra.name == "setuptools"]
    assert "file-share-lab[notebook,parquet,fleet,dataset]" in PROJECT["project"]["optional-dependencies"]["all"]
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "lab.__version__"}
    assert lab.__version__


def test_a_bound_without_an_upper_end_says_which_hole_it_keeps_out() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    open_ended = [line for line in lines if re.search(r'"[A-Za-z0-9_-]+>=[^,"]+"', line) and "python" not in line]
    assert len(open_ended) > 15
    assert [line for line in open_ended if not re.search(r"# (CVE|GHSA|PYSEC)-", line)] == []


def test_what_is_installed_here_is_what_is_asked_for() -> None:
    """Packages that this target of make does not install are not there; none that is there is too old."""
    bounds = {name: SpecifierSet(",".join(texts)) for name, texts in asked_for().items()}
    bounds |= {extra.name: extra.specifier for extra in beside()}
    for name, bound in bounds.items():
        with suppress(PackageNotFoundError):
            assert version(name) in bound, f"{name} {version(name)} is not {bound}: `scripts/setup.sh unit` installs it"
    assert version("cryptography")
