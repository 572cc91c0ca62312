"""Run the emulated kernel."""

from __future__ import annotations

from .kernel import main

raise SystemExit(main())
