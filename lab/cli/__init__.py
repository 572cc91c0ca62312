"""The commands, one file each. ``python -m lab`` and ``lab`` are the same."""
