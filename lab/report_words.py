"""What a report says beside its tables and figures, the same in HTML and Markdown."""

from __future__ import annotations

LOCAL_LAB = (
    "These are numbers of the local lab: client and server share one machine, its cores and its memory. "
    "They compare settings there and say nothing about other hardware."
)
TEXTS = {
    "throughput": "Every mark is one trial, the black tick the median of one setting, the coloured tick what iperf3 "
    "reached on the bare link at that setting: the ceiling. Crosses are void or failed trials; they are shown and are "
    "in no median, and one with a number beside it lies beyond the axis. MB/s are 10⁶ bytes per second.",
    "effects": "Every mark compares two trials of one block that differ in this one setting: speed at the new level "
    "over speed at the old one, less one. The band is the exact 95 % interval of the median (sign test); fewer than "
    "six pairs give none. Where the band holds 0 %, the data do not say which way the setting works.",
    "cpu_cost": "CPU seconds that each machine spent for 10⁹ bytes moved: the bar is the median, every mark a trial.",
    "timeline": "Above, every trial in the order in which it ran. Below, how far it lies from the median of its own "
    "case: block medians that move one way mean that the machines or the link drifted.",
}
