"""``python -m lab`` is the same as the ``lab`` command."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, whose files must not stand in for modules

import runpy

runpy.run_module("lab.cli.main", run_name="__main__")
