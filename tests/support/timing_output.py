"""What the stopwatch prints after a transfer."""

from __future__ import annotations

REPORT = "clock wall\n{counts}elapsed_s {seconds}\ntool_cpu_s 0.25\nexit 0\nflushed fsync\n"
