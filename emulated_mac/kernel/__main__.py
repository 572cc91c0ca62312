"""Run the emulated kernel: ``python3 -m emulated_mac.kernel``."""

from .server import main

raise SystemExit(main())
