"""Run the emulated kernel: ``python3 -m emulated_mac.kernel``."""

from __future__ import annotations

from .server import main

raise SystemExit(main())
