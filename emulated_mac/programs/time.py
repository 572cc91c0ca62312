"""time(1): ``-l`` and ``-p`` (shell_cmds: time.c); sizes are in bytes on a Mac."""

import resource
import subprocess
import sys
import time

from .. import bsd_getopt

USAGE = "usage: time [-al] [-h | -p] [-o file] utility [argument ...]"


def main(argv: list[str]) -> int:
    """Run a command; print its times to standard error."""
    options, words = bsd_getopt.parse(
        "time", argv, "alpo:h", "usage: time [-al] [-h | -p] [-o file] utility [argument ...]"
    )
    flags = {letter for letter, _ in options}
    if flags & set("aoh") or not words:
        bsd_getopt.fail_as_not_emulated("time", " ".join(argv))
    started = time.monotonic()
    try:
        code = subprocess.run(words, check=False).returncode
    except OSError as error:
        bsd_getopt.fail(f"time: {words[0]}: {error.strerror}", 127)
    real, used = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if "p" in flags:
        print(f"real {real:.2f}\nuser {used.ru_utime:.2f}\nsys {used.ru_stime:.2f}", file=sys.stderr)
    else:
        print(f"{real:12.2f} real {used.ru_utime:12.2f} user {used.ru_stime:11.2f} sys", file=sys.stderr)
    if "l" in flags:
        rows = {"maximum resident set size": used.ru_maxrss * 1024, "page reclaims": used.ru_minflt,
                "page faults": used.ru_majflt, "voluntary context switches": used.ru_nvcsw,
                "involuntary context switches": used.ru_nivcsw}  # fmt: skip
        print("".join(f"{value:20d}  {name}\n" for name, value in rows.items()), end="", file=sys.stderr)
    return code if code >= 0 else 128 - code
