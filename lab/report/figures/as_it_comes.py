"""matplotlib with its own defaults, whatever folder one stands in; imported here before anywhere else in the lab.

Its import reads ``matplotlibrc`` of the current folder before all other such files, and stops at a MPLBACKEND that it
does not know.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NOTHING_TO_READ = {"MATPLOTLIBRC": os.devnull, "MPLBACKEND": ""}


@contextmanager
def _alone() -> Iterator[None]:
    """Stand in the root of the file system, without settings of the environment."""
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
    with suppress(ValueError):  # the lab draws without one; a notebook shows by it what its own cells draw
        matplotlib.rcParams["backend"] = backend
