"""What was measured: a run folder, its trials, and the data frame that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.results.newest_run import newest as newest
from lab.results.open_run import open_run as open_run
from lab.results.run_folder import RunFolder as RunFolder
from lab.results.run_folder import load as load
from lab.results.trial import Trial as Trial

if TYPE_CHECKING:
    from lab.results.dataframe import frame as frame
    from lab.results.dataframe import observed as observed


def __getattr__(name: str) -> object:
    """Frames need pandas, which takes as long to import as all else that a run needs: it is, once it is asked for."""
    if name in ("frame", "observed"):
        from lab.results import dataframe

        return getattr(dataframe, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
