"""What comes with the lab beside its code: in a checkout it is what stands there, in a wheel a copy of it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from support.paths import ROOT

import lab
from lab.base import shipped

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["sweeps", "notebooks", "docs", "hosts.ini"])
def test_it_is_the_files_of_the_repository_themselves(name: str) -> None:
    assert (shipped.FOLDER / name).samefile(ROOT / name)


def test_sweeps_and_examples_have_names() -> None:
    assert shipped.sweeps().keys() == {path.stem for path in (ROOT / "sweeps").glob("*.toml")}
    assert shipped.examples().keys() == {"example", "example-delay"}
    assert all(path.stat().st_size < 300_000 for path in shipped.examples().values())


def test_the_wheel_has_every_file_that_is_shipped() -> None:
    package = ROOT / "lab"
    packed = {
        path for pattern in PROJECT["tool"]["setuptools"]["package-data"]["lab"] for path in package.glob(pattern)
    }
    assert {*shipped.sweeps().values(), *shipped.examples().values()} <= packed
    assert {shipped.HOSTS_TEMPLATE, *(shipped.PAGES / "how-to").glob("*.md")} <= packed
    assert {*shipped.notebooks().values(), package / "notebook" / "page.css"} <= packed


def test_a_checkout_installs_what_the_wheel_and_its_notebooks_need() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    requirements = [line for line in lines if line and not line.startswith("#")]
    project = PROJECT["project"]
    assert requirements == [*project["dependencies"], *project["optional-dependencies"]["notebook"]]


def test_the_version_stands_once() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "lab.__version__"}
    assert lab.__version__
