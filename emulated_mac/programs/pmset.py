"""pmset(1): shows power settings, and ``noidle`` (PowerManagement: pmset.c). Changing settings is refused."""

import signal

from .. import bsd_getopt, processes, profiles

USAGE = "Usage:  pmset <options>\nSee pmset(1) for details: 'man pmset'"
ARM = {"Sleep On Power Button": "1", "autorestart": "0", "powernap": "1", "networkoversleep": "0", "disksleep": "10",
       "sleep": "1", "ttyskeepawake": "1", "displaysleep": "10", "tcpkeepalive": "1", "womp": "1"}  # fmt: skip
INTEL = {"womp": "1", "halfdim": "1", "sms": "1", "networkoversleep": "0", "disksleep": "10", "sleep": "10",
         "displaysleep": "10", "ttyskeepawake": "1"}  # fmt: skip


def main(argv: list[str]) -> int:
    """``-g`` and what follows it."""
    if argv == ["noidle"]:
        print("Preventing idle sleep (^C to exit)...", flush=True)
        signal.pause()
    if not argv or argv[0] != "-g":
        if argv and argv[0] in ("-a", "-b", "-c", "-u", "sleepnow", "displaysleepnow", "schedule", "repeat"):
            bsd_getopt.fail(f"'{'pmset' if profiles.current().number < (10, 9) else argv[0]}' must be run as root...")
        bsd_getopt.fail_with_usage(USAGE, 64)
    shows = {"batt": _battery, "ps": _battery, "therm": _thermal, "assertions": _assertions, "live": _settings}
    if len(argv) > 1 and argv[1] not in (*shows, "custom", "cap", "log", "sched"):
        bsd_getopt.fail_with_usage(USAGE, 64)
    if len(argv) > 1 and argv[1] not in shows:
        bsd_getopt.fail_as_not_emulated("pmset", " ".join(argv))
    (shows[argv[1]] if len(argv) > 1 else _settings)()
    return 0


def _programs_that_keep_awake() -> list[str]:
    """The programs that now keep the Mac awake."""
    names = {"caffeinate"} if profiles.current().number >= (10, 8) else set()
    programs = [process.name for process in processes.read_all() if process.name in names or _is_noidle(process)]
    return sorted(set(programs))


def _is_noidle(process: processes.Process) -> bool:
    return "noidle" in process.argv and any(word.endswith("pmset") for word in process.argv)


def _settings() -> None:
    profile = profiles.current()
    rows = dict(ARM if profile.is_arm else INTEL)
    if profile.number >= (12,):
        rows["lowpowermode"] = "0"
    if names := _programs_that_keep_awake():
        rows["sleep"] += f" (sleep prevented by {', '.join(names)})"
    if profile.number >= (10, 9):
        print("System-wide power settings:")
    else:
        print("Active Profiles:\nAC Power\t\t-1*")
    print("Currently in use:\n" + "".join(f" {name:<20} {value}\n" for name, value in rows.items()), end="")


def _battery() -> None:
    head = "Now drawing from" if profiles.current().number >= (10, 9) else "Currently drawing from"
    print(f"{head} 'AC Power'")


def _thermal() -> None:
    print("Note: No thermal warning level has been recorded\nNote: No performance warning level has been recorded")
    if profiles.current().number >= (11,):
        print("Note: No CPU power status has been recorded")


def _assertions() -> None:
    """Print the state, and the programs behind it (seen on macOS 10.13 to 26)."""
    number = int(bool(_programs_that_keep_awake()))
    print("Assertion status system-wide:")
    names = ("PreventUserIdleDisplaySleep", "PreventSystemSleep", "PreventUserIdleSystemSleep")
    print("".join(f"   {name:<30} {number if name.endswith('SystemSleep') else 0}\n" for name in names), end="")
    print("Listed by owning process:")
    for process in processes.read_all():
        if any(word.endswith("caffeinate") for word in process.argv[:3]):
            print(
                f"   pid {process.pid}(caffeinate): [0x0000000000000001] 00:00:01 PreventUserIdleSystemSleep "
                'named: "caffeinate command-line tool"'
            )
