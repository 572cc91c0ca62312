"""``python -m lab`` is the same as the ``lab`` command."""

import runpy

runpy.run_module("lab.cli.main", run_name="__main__")
