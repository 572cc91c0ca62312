"""A stand-in for the `lab` that a fleet starts: it measures nothing, and its machines are files.

``python -I -S fleet_stand_in.py STATE run|restore|look …`` takes the arguments of the lab's commands. In STATE:
``MACHINE.lock``, locked by a run; ``MACHINE.dirty``, while a run has changed it; ``pids/PID`` of runs; ``log``, a line
for each event; ``seconds``, the duration of a run; ``says``, an exit code and a message for the next run.
It imports nothing of the lab, because tests start hundreds of it."""

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

STATE = Path(sys.argv[1])


def note(*words: str) -> None:
    with (STATE / "log").open("a") as file:
        file.write(" ".join(words) + "\n")


def machines(hosts_file: str) -> list[str]:
    lines = Path(hosts_file).read_text().splitlines()
    return [line.split("=")[1].strip() for line in lines if line.startswith("data_address")]


def locked(machine: str) -> int | None:
    """The lock of a machine; None if a run holds it."""
    descriptor = os.open(STATE / f"{machine}.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def replace(path: Path, content: dict[str, object]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content))
    part.rename(path)


def look(hosts_file: str) -> int:
    in_use, changed = "", ""
    for machine in machines(hosts_file):
        lock = locked(machine)
        if lock is None:
            in_use = f"{machine}: in use by somebody"
        elif (STATE / f"{machine}.dirty").exists():
            changed = machine
    unreached = (STATE / "unreached").read_text() if (STATE / "unreached").exists() else ""
    print(json.dumps({"in_use": in_use, "changed": changed, "unreached": unreached}))
    return 0


def restore(hosts_file: str) -> int:
    for machine in machines(hosts_file):
        if locked(machine) is None:
            print(f"{machine}: in use by somebody", file=sys.stderr)
            return 1
        (STATE / f"{machine}.dirty").unlink(missing_ok=True)
    note("restored", hosts_file)
    return 0


def run(words: list[str]) -> int:
    if "--resume" in words:
        folder = Path(words[1])
        about = json.loads((folder / "run.json").read_text())
        hosts_file = about["hosts_file"]
        if "ended" in about:
            note("violation", str(folder))
            return 1
    else:
        hosts_file, results, sweep = words[1], Path(words[3]), words[4]
        name = Path(sweep).stem
        about = {"schema": 2, "name": name, "started_at": "2026-11-26T10:00:00+00:00", "hosts_file": hosts_file}
        folder = results / f"20261126T100000Z-{name}-{os.getpid()}"
    used = machines(hosts_file)
    if (STATE / "says").exists():
        code, _, text = (STATE / "says").read_text().partition(" ")
        print(text, file=sys.stderr)
        return int(code)
    locks = [locked(machine) for machine in used]
    if None in locks:
        note("violation", *used)
        print("in use by somebody", file=sys.stderr)
        return 1
    if any((STATE / f"{machine}.dirty").exists() for machine in used):
        note("dirty", *used)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / "run.json", about)
    return _measure(folder, about, used)


def _measure(folder: Path, about: dict[str, object], used: list[str]) -> int:
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    for machine in used:
        (STATE / f"{machine}.dirty").touch()
    note("began", str(folder))
    pid = STATE / "pids" / str(os.getpid())  # last, because tests kill what they see here
    pid.touch()
    deadline = time.monotonic() + float((STATE / "seconds").read_text())
    while time.monotonic() < deadline and not stopped:
        time.sleep(0.01)
    for machine in used:
        (STATE / f"{machine}.dirty").unlink()
    if not stopped:
        replace(folder / "run.json", {**about, "ended": "complete", "finished_at": "2026-11-26T10:00:01+00:00"})
    note("stopped" if stopped else "finished", str(folder))
    pid.unlink()
    return 143 if stopped else 0


if __name__ == "__main__":
    command, *arguments = sys.argv[2:]
    if command == "look":
        raise SystemExit(look(arguments[0]))
    if command == "restore":
        raise SystemExit(restore(arguments[1]))
    raise SystemExit(run(arguments))
