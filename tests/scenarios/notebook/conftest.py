"""Kernels of notebooks, and the output of a cell without one."""

from support.cell_output import shown as shown
from support.notebooks import by_this_lab as by_this_lab
