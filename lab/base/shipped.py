"""What comes with the lab beside its code: sweeps, a hosts file to fill in, notebooks, pages, runs to look at,
published figures.

In a checkout most of the folder `shipped` is links to where these stand; a wheel has the files themselves.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "shipped"
HOSTS_TEMPLATE = FOLDER / "hosts.ini"
PAGES = FOLDER / "docs"
PUBLISHED = FOLDER / "published-2011.csv"


def sweeps() -> dict[str, Path]:
    """The sweep files, by the name that `lab plan` and `lab run` take."""
    return _by_name("sweeps", ".toml")


def notebooks() -> dict[str, Path]:
    """The notebooks, by the name that `lab notebook` takes."""
    return _by_name("notebooks", ".ipynb")


def examples() -> dict[str, Path]:
    """The packed runs, by the name that `lab show` takes (:mod:`lab.results.examples`)."""
    return _by_name("examples", ".zip")


def _by_name(folder: str, ending: str) -> dict[str, Path]:
    return {path.stem: path for path in sorted((FOLDER / folder).glob(f"*{ending}"))}
