"""Plain functions for the notebooks, one module for each notebook, and lists to pick from (docs/how-to/notebooks.md).

A notebook opens a run by :func:`open_chosen`, or two runs by :func:`open_two`, and shows what a function returns. It
shows no names of hosts, accounts and shares (:mod:`lab.results.public`).
"""

import lab.report.figures  # noqa: F401 – comes first, so that matplotlib reads no files of the current folder
from lab.notebook.opened import Opened as Opened
from lab.notebook.opened import here as here
from lab.notebook.opened import open_chosen as open_chosen
from lab.notebook.opened import open_two as open_two
