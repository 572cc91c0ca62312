"""nfsd(8): commands, messages and exit codes as in main.c of NFS-63; from 14.4 on, status as in NFS-285."""

import errno
import getopt
import os
import sys
from collections.abc import Callable
from pathlib import Path

from .. import profiles
from ..kernel_client import call
from ..records import ServiceRecord

NFSD = "com.apple.nfsd"
THREADS = 8
USAGE = """\
usage: nfsd [-NRrtuv] [-F export_file] [-n num_servers] [-p nfsport] [-P mountport] [command]
commands: enable, disable, start, stop, restart, update, status, checkexports, verbose [up|down]
"""


def main(argv: list[str]) -> int:
    """One command."""
    number = profiles.current().number
    try:
        options, words = getopt.getopt(argv, "F:n:Np:P:rRtuv")
    except getopt.GetoptError as error:
        print(f"nfsd: illegal option -- {error.opt}", file=sys.stderr)
        return _usage()
    if words[:1] == ["status"]:
        return _status(number)
    if words[:1] == ["checkexports"]:
        return _check(dict(options).get("-F", "/etc/exports"))
    if os.getuid() != 0:
        print("Sorry, nfsd must be run as root\nunprivileged usage: nfsd [ status | [-F file] checkexports]")
        return 2 if number < (11,) else 77
    if not words or words[0] not in COMMANDS:
        if words:
            print(f"nfsd: unknown command: {words[0]}", file=sys.stderr)
        return _usage()
    return COMMANDS[words[0]](_find_job())


def _usage() -> int:
    print(USAGE, end="", file=sys.stderr)
    return 1


def _find_job() -> ServiceRecord:
    services: list[ServiceRecord] = call("services")
    return next(job for job in services if job["label"] == NFSD)


def _status(number: tuple[int, ...]) -> int:
    job = _find_job()
    enabled = job["disabled"] is False
    print(f"nfsd service is {'enabled' if enabled else 'disabled'}")
    print(f"nfsd is running (pid {job['pid']}, {THREADS} threads)" if job["pid"] else "nfsd is not running")
    return int(not job["pid"] if number >= (14, 4) else not enabled)


def _check(path: str) -> int:
    if not Path(path).exists():
        print(f"Can't open {path}", file=sys.stderr)
        return 1
    errors = call("check_exports", path=str(Path(path).resolve()))
    for line in errors:
        print(line, file=sys.stderr)
    return int(bool(errors))


def _enable(job: ServiceRecord) -> int:
    if job["disabled"] is False:
        print("The nfsd service is already enabled.")
    else:
        call("service_enable", label=NFSD, enable=True)
    return _load(_find_job())


def _load(job: ServiceRecord) -> int:
    if not job["loaded"]:
        call("service_load", label=NFSD, force=True)
    return 0


def _disable(job: ServiceRecord) -> int:
    if job["disabled"] is not False:
        print("The nfsd service is already disabled.")
    else:
        call("service_enable", label=NFSD, enable=False)
    return _unload(job)


def _unload(job: ServiceRecord) -> int:
    if job["loaded"]:
        call("service_unload", label=NFSD)
    return 0


def _start(job: ServiceRecord) -> int:
    if job["pid"]:
        print("The nfsd service is already running.")
        return 0
    print("Starting the nfsd service" + ("" if job["disabled"] is False else " (use 'enable' to make permanent)"))
    return _load(job)


def _stop(job: ServiceRecord) -> int:
    if not job["pid"]:
        print("The nfsd service is not running.")
        return 0
    print("Stopping the nfsd service" + (" (use 'disable' to make permanent)" if job["disabled"] is False else ""))
    return _unload(job)


def _restart(job: ServiceRecord) -> int:
    if job["pid"]:
        call("service_stop", label=NFSD)
        return 0
    print("The nfsd service does not appear to be running.")
    return _start(job)


def _update(job: ServiceRecord) -> int:
    try:
        call("update_exports")
    except OSError as error:
        if error.errno != errno.ESRCH:
            raise
        print("nfsd: nfsd not running?", file=sys.stderr)
        return 1
    return 0


COMMANDS: dict[str, Callable[[ServiceRecord], int]] = {
    "enable": _enable, "disable": _disable, "start": _start, "stop": _stop, "restart": _restart, "update": _update,
}  # fmt: skip
