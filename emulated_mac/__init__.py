"""An emulated Mac: macOS's programs, as strict as the real ones, over what a Linux host of the local lab really does.

This package runs inside the host, in /opt/emulated_mac, by the host's own Python and without the rest of the lab.
``boot.sh`` starts it, and ``filesystem`` lays out the Mac's file system. ``kernel`` is a process that does what needs a
kernel. ``programs`` has macOS's programs, one module each; they call the kernel by ``kernel_client``. ``servers`` are
the file servers. docs/reference/emulated-macs.md has the rest.
"""
