"""matplotlib with its own defaults, imported here before anywhere else in the lab.

The import of matplotlib reads ``matplotlibrc`` of the current folder first, and stops at an unknown MPLBACKEND.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NOTHING_TO_READ = {"MATPLOTLIBRC": os.devnull, "MPLBACKEND": ""}


@contextmanager
def _alone() -> Iterator[None]:
    """Change to the root of the file system, without settings of the environment."""
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
    kept = {name: os.environ[name] for name in NOTHING_TO_READ if name in os.environ}
    try:
        os.environ.update(NOTHING_TO_READ)
        os.chdir("/")
        yield
    finally:
        os.fchdir(here)
        os.close(here)
        for name in NOTHING_TO_READ:
            del os.environ[name]
        os.environ.update(kept)


with _alone():
    import matplotlib
    from matplotlib.figure import Figure as Figure

matplotlib.rcdefaults()
if backend := os.environ.get("MPLBACKEND"):
    with suppress(ValueError):  # the lab needs none; a notebook shows with it what its own cells draw
        matplotlib.rcParams["backend"] = backend
