"""What was measured: a run folder, its trials, and the data frame that they make."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.results.dataframe import frame as frame
    from lab.results.opening import open_run as open_run
    from lab.results.run_folder import RunFolder as RunFolder
    from lab.results.run_folder import load as load
    from lab.results.trial import Trial as Trial

LAZY = {"RunFolder": "run_folder", "Trial": "trial", "frame": "dataframe", "load": "run_folder", "open_run": "opening"}


def __getattr__(name: str) -> object:
    """Import what is asked for only then: pandas is slow to import, and a plan needs no run folder."""
    if name in LAZY:
        return getattr(importlib.import_module(f"{__name__}.{LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
