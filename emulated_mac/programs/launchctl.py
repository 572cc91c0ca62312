"""launchctl(1): the legacy verbs of all versions, and those of launchd 2 (10.10 and later).

Messages: launchctl.c of launchd-842 for 10.9 and earlier; seen on macOS 10.11 to 15 for the others. The system has
file servers alone as jobs. An account's own jobs (``gui/501``) are loaded, started and unloaded; times of
their property lists never come.
"""

import errno
import getopt
import os
import sys
from collections.abc import Callable

from .. import profiles
from ..kernel_client import call
from ..records import ServiceRecord

NOT_FOUND, IN_PROGRESS, DISABLED, IO_ERROR = 113, 37, 119, 5
WORDS = {
    1: "Operation not permitted", 3: "No such process", IO_ERROR: "Input/output error",
    IN_PROGRESS: "Operation already in progress", NOT_FOUND: "Could not find specified service",
    DISABLED: "Service is disabled",
}  # fmt: skip
RICHER = "Try running `launchctl bootstrap` as root for richer errors."


def main(argv: list[str]) -> int:
    """One verb."""
    number = profiles.current().number
    verbs = dict(LEGACY_VERBS) | (VERBS if number >= (10, 10) else {})
    if call("fault", name="launchctl-without-load"):
        verbs = {verb: run for verb, run in verbs.items() if verb not in ("load", "unload")}
    if not argv or argv[0] not in verbs:
        if number < (10, 10):
            print(f'launchctl: unknown subcommand "{argv[0] if argv else ""}"', file=sys.stderr)
            return 1
        problem = f"Unrecognized subcommand: {argv[0]}\n" if argv else ""
        print(f"{problem}Usage: launchctl <subcommand> ... | help [subcommand]", file=sys.stderr)
        return 64
    return verbs[argv[0]](argv[1:], number)


def _jobs() -> list[ServiceRecord]:
    jobs: list[ServiceRecord] = call("services")
    return jobs


def _find_job(label: str) -> ServiceRecord | None:
    return next((job for job in _jobs() if job["label"] == label), None)


def _find_job_at(path: str) -> ServiceRecord | None:
    return next((job for job in _jobs() if job["path"] == os.path.abspath(path)), None)  # noqa: PTH100


def _fail(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


# The legacy verbs


def _load(argv: list[str], number: tuple[int, ...]) -> int:
    try:
        options, paths = getopt.getopt(argv, "wFS:D:")
    except getopt.GetoptError:
        paths = []
    if not paths:
        return _fail("usage: launchctl load [-wF] [-D <user|local|network|system|all>] paths...", 1)
    chosen = dict(options)
    return max(_load_one(path, "-w" in chosen, "-F" in chosen, number) for path in paths)


def _load_one(path: str, for_good: bool, force: bool, number: tuple[int, ...]) -> int:
    job = _find_job_at(path)
    if job is None:
        if number < (10, 10):
            print(f'launchctl: Couldn\'t stat("{path}"): No such file or directory', file=sys.stderr)
            return _fail("nothing found to load", 1)
        return _fail(f"{path}: No such file or directory", 0)
    try:
        if for_good:
            call("service_enable", label=job["label"], enable=True)
        call("service_load", label=job["label"], force=force)
    except OSError as error:
        return _load_refused(path, job["label"], error.errno, number)
    return 0


def _load_refused(path: str, label: str, code: int | None, number: tuple[int, ...]) -> int:
    """Exit codes: legacy verbs mostly end with 0, whatever happened."""
    if code == errno.EALREADY:
        if number < (10, 10):
            return _fail(f"{label}: Already loaded", 0)
        if number < (11,):
            return _fail(f"{path}: service already loaded", 0)
        return _fail(f"Load failed: {IN_PROGRESS}: {WORDS[IN_PROGRESS]}", 0)
    if os.getuid() != 0:
        if number < (10, 10):  # it would load into the user's own launchd, but these jobs belong to the system's
            return _fail("launchctl: Dubious ownership on file (skipping): " + path + "\nnothing found to load", 1)
        if number < (11,):
            return _fail(f"{path}: Path had bad ownership/permissions", 0)
        return _fail(f"Load failed: {IO_ERROR}: {WORDS[IO_ERROR]}\n{RICHER}", 0)
    return _fail("nothing found to load", 1) if number < (10, 10) else _fail(f"{path}: {WORDS[DISABLED]}", 0)


def _unload(argv: list[str], number: tuple[int, ...]) -> int:
    try:
        options, paths = getopt.getopt(argv, "wS:D:")
    except getopt.GetoptError:
        paths = []
    if not paths:
        return _fail("usage: launchctl unload [-w] [-D <user|local|network|system|all>] paths...", 1)
    code = 0
    for path in paths:
        job = _find_job_at(path)
        if job is None:
            code = _fail(f"{path}: No such file or directory", 1 if number < (10, 10) else 0)
            continue
        try:
            if ("-w", "") in options:
                call("service_enable", label=job["label"], enable=False)
            call("service_unload", label=job["label"])
        except OSError:
            code = _unload_refused(path, job["label"], number)
    return code


def _unload_refused(path: str, label: str, number: tuple[int, ...]) -> int:
    if number < (10, 10):
        return _fail(f"launchctl: Error unloading: {label}", 1)
    if number < (11,):
        return _fail(f"{path}: {WORDS[NOT_FOUND]}", 0)
    return _fail(f"Unload failed: {IO_ERROR}: {WORDS[IO_ERROR]}\n{RICHER.replace('bootstrap', 'bootout')}", 0)


def _list(argv: list[str], number: tuple[int, ...]) -> int:
    """List the system's jobs for root, and none for other users."""
    jobs = [job for job in _jobs() if job["loaded"] and os.getuid() == 0]
    if not argv:
        print("PID\tStatus\tLabel")
        for job in jobs:
            print(f"{job['pid'] or '-'}\t0\t{job['label']}")
        return 0
    named = [job for job in jobs if job["label"] == argv[0]]
    if not named:
        if number < (10, 10):
            return _fail("launchctl list returned unknown response", 1)
        return _fail(f'Could not find service "{argv[0]}" in domain for system', NOT_FOUND)
    job = named[0]
    running = f'\t"PID" = {job["pid"]};\n' if job["pid"] else ""
    print(
        f'{{\n\t"LimitLoadToSessionType" = "System";\n\t"Label" = "{job["label"]}";\n\t"OnDemand" = true;\n'
        f'\t"LastExitStatus" = 0;\n{running}\t"Program" = "{job["program"]}";\n}};'
    )
    return 0


def _start(argv: list[str], number: tuple[int, ...]) -> int:
    job = _find_job(argv[0]) if len(argv) == 1 else None
    if job is None or not job["loaded"] or os.getuid() != 0:
        return _fail("launchctl start error: No such process", 1) if number < (10, 10) else 3
    return 0  # a job that should run is running already


def _stop(argv: list[str], number: tuple[int, ...]) -> int:
    try:
        call("service_stop", label=argv[0] if len(argv) == 1 else "")
    except OSError:
        return _fail("launchctl stop error: No such process", 1) if number < (10, 10) else 3
    return 0


# The verbs of launchd 2


def _find_target(words: list[str]) -> ServiceRecord | None:
    """The job of ``system/LABEL``, or of ``system PATH``."""
    if len(words) == 1 and words[0].startswith("system/"):
        return _find_job(words[0].removeprefix("system/"))
    return _find_job_at(words[1]) if len(words) == 2 and words[0] == "system" else None


def _enable(argv: list[str], number: tuple[int, ...]) -> int:
    return _switch(argv, "enable")


def _disable(argv: list[str], number: tuple[int, ...]) -> int:
    return _switch(argv, "disable")


def _switch(argv: list[str], verb: str) -> int:
    if len(argv) != 1 or "/" not in argv[0]:
        return _fail(f"Usage: launchctl {verb} <service-target>", 64)
    job = _find_target(argv)
    if os.getuid() != 0:
        return _fail(f"Could not {verb} service: 1: {WORDS[1]}", 1)
    if job is not None:  # launchd only remembers a label that it does not know
        call("service_enable", label=job["label"], enable=verb == "enable")
    return 0


def _in_domain_of_account(verb: str, target: str, **words: str) -> bool:
    """Whether ``gui/UID`` or ``gui/UID/LABEL`` was the target; then the call was made. Raises OSError."""
    domain, _, rest = target.partition("/")
    user, _, label = rest.partition("/")
    if domain != "gui" or not user.isdecimal():
        return False
    call(verb, user=int(user), **words, **({"label": label} if label else {}))
    return True


def _bootstrap(argv: list[str], number: tuple[int, ...]) -> int:
    if len(argv) < 2:
        return _fail("Usage: launchctl bootstrap <domain-target> [service-path1, ...]", 64)
    code = 0
    for path in argv[1:]:
        try:
            if _in_domain_of_account("agent_load", argv[0], path=os.path.abspath(path)):  # noqa: PTH100
                continue
            job = _find_target([argv[0], path])
            call("service_load", label=job["label"] if job else "")
        except OSError as error:
            reason = {errno.EALREADY: IN_PROGRESS, errno.EPERM: DISABLED}.get(error.errno or 0, IO_ERROR)
            reason = reason if os.getuid() == 0 or argv[0].startswith("gui/") else 1
            if reason == IN_PROGRESS and number >= (11,):
                reason = IO_ERROR  # seen on macOS 11 and later if the job is loaded
            if number < (11,):
                words = "service already bootstrapped" if reason == IN_PROGRESS else WORDS[reason]
                code = _fail(f"{path}: {words}", reason)
            else:
                code = _fail(f"Bootstrap failed: {reason}: {WORDS[reason]}", reason)
    return code


def _bootout(argv: list[str], number: tuple[int, ...]) -> int:
    if not argv:
        return _fail("Usage: launchctl bootout <domain-target> [service-path1, ...] | <service-target>", 64)
    job = _find_target(argv)
    try:
        if _in_domain_of_account("agent_unload", argv[0]):
            return 0
        call("service_unload", label=job["label"] if job else "")
    except OSError as error:
        if os.getuid() != 0 and error.errno != errno.ESRCH:
            return _fail(f"Boot-out failed: 1: {WORDS[1]}" if number >= (11,) else WORDS[1], 1)
        if number < (11,):
            return _fail(WORDS[NOT_FOUND], NOT_FOUND)
        return _fail(f"Boot-out failed: 3: {WORDS[3]}", 3)
    return 0


def _kickstart(argv: list[str], number: tuple[int, ...]) -> int:
    try:
        options, words = getopt.getopt(argv, "kps")
    except getopt.GetoptError:
        words = []
    if len(words) != 1:
        return _fail("Usage: launchctl kickstart [-kps] <service-target>", 64)
    try:
        if _in_domain_of_account("agent_start", words[0]):
            return 0
    except OSError:
        return _not_found(words[0], number)
    job = _find_target(words)
    if job is None or not job["loaded"]:
        return _not_found(words[0], number)
    if os.getuid() != 0:
        return _fail(f'Could not kickstart service "{job["label"]}": 1: {WORDS[1]}', 1)
    if ("-k", "") in options:
        call("service_stop", label=job["label"])
    if ("-p", "") in options:
        print((_find_job(job["label"]) or job)["pid"])
    return 0


def _not_found(target: str, number: tuple[int, ...]) -> int:
    first = "Bad request.\n" if number >= (14,) else ""
    label = target.removeprefix("system/")
    return _fail(f'{first}Could not find service "{label}" in domain for system', NOT_FOUND)


def _print(argv: list[str], number: tuple[int, ...]) -> int:
    if len(argv) != 1:
        return _fail("Usage: launchctl print <domain-target> | <service-target>", 64)
    job = _find_target(argv)
    if job is None or not job["loaded"]:
        return _not_found(argv[0], number)
    running = job["pid"] is not None
    pid = f"\tpid = {job['pid']}\n" if running else ""
    print(
        f"system/{job['label']} = {{\n\tactive count = {int(running)}\n\tpath = {job['path']}\n\ttype = LaunchDaemon\n"
        f"\tstate = {'running' if running else 'not running'}\n\n\tprogram = {job['program']}\n"
        f"\targuments = {{\n\t\t{job['program']}\n\t}}\n\n\tdomain = system\n{pid}}}"
    )
    return 0


def _print_disabled(argv: list[str], number: tuple[int, ...]) -> int:
    """Print words since 13, before that true or false (source: the fix texts of DISA's APPL-12-002001 and
    APPL-13-002001).
    """
    if argv != ["system"]:
        return _fail("Usage: launchctl print-disabled <domain-target>", 64)
    print("\tdisabled services = {")
    for job in _jobs():
        if job["disabled"] is not None:
            old, new = str(job["disabled"]).lower(), "disabled" if job["disabled"] else "enabled"
            print(f'\t\t"{job["label"]}" => {old if number < (13,) else new}')
    print("\t}" if number < (13,) else "\t}\n\tlogin-mode services = {\n\t}")
    return 0


Verb = Callable[[list[str], tuple[int, ...]], int]
LEGACY_VERBS: dict[str, Verb] = {"load": _load, "unload": _unload, "list": _list, "start": _start, "stop": _stop}
VERBS: dict[str, Verb] = {
    "enable": _enable, "disable": _disable, "bootstrap": _bootstrap, "bootout": _bootout, "kickstart": _kickstart,
    "print": _print, "print-disabled": _print_disabled,
}  # fmt: skip
