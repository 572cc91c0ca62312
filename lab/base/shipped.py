"""Files that come with the lab: sweeps, a hosts file to fill in, notebooks, pages, example runs, published figures."""

from pathlib import Path

# In a checkout mostly links to the files; a wheel has the files themselves
FOLDER = Path(__file__).resolve().parents[1] / "shipped"
HOSTS_TEMPLATE = FOLDER / "hosts.ini"
PAGES = FOLDER / "docs"
PUBLISHED = FOLDER / "published-2011.csv"


def sweeps() -> dict[str, Path]:
    """The sweep files, by their names for `lab plan` and `lab run`."""
    return _by_name("sweeps", ".toml")


def notebooks() -> dict[str, Path]:
    """The notebooks, by their names for `lab notebook`."""
    return _by_name("notebooks", ".ipynb")


def examples() -> dict[str, Path]:
    """The packed runs, by their names for `lab show` (:mod:`lab.results.examples`)."""
    return _by_name("examples", ".zip")


def _by_name(folder: str, ending: str) -> dict[str, Path]:
    return {path.stem: path for path in sorted((FOLDER / folder).glob(f"*{ending}"))}
