"""Kernels of notebooks."""

from support.notebooks import by_this_lab as by_this_lab
