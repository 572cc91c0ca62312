"""The output of a cell."""

from support.cell_output import shown as shown
