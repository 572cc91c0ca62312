"""An emulated Mac: macOS's commands, as strict as the real ones, over what a Linux host of the local lab really does.

This package runs inside the host, as ``darwin``, by the host's own Python and without anything else of the lab. Its
parts: ``tree`` lays out the Mac's file system, ``kernel`` is a process that does what needs a kernel, ``system`` is how
commands ask it, ``calls`` are what it can be asked, ``commands`` are the programs. docs/reference/emulated-macs.md has
the rest.
"""
