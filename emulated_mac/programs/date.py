"""date(1) (shell_cmds: date.c): ``%N`` is a letter N up to 15.3."""

import os
import time

from .. import bsd_getopt, profiles

USAGE = """\
usage: date [-jnRu] [-I[date|hours|minutes|seconds|ns]] [-f input_fmt]
            [ -z output_zone ] [-r filename|seconds] [-v[+|-]val[y|m|w|d|H|M|S]]
            [[[[mm]dd]HH]MM[[cc]yy][.SS] | new_date] [+output_fmt]"""


def main(argv: list[str]) -> int:
    """Print the present time, or the time of ``-r``, in the format."""
    options, words = bsd_getopt.parse("date", argv, "jnRuf:r:v:I:z:", USAGE)
    values = dict(options)
    if set(values) & set("jnRfvIz"):
        bsd_getopt.fail_as_not_emulated("date", " ".join(argv))
    if len(words) > 1 or (words and not words[0].startswith("+")):
        bsd_getopt.fail("date: illegal time format\n" + USAGE)
    now = time.time_ns()
    if "r" in values:
        now = int(values["r"]) * 10**9 if values["r"].isdigit() else os.stat(values["r"]).st_mtime_ns  # noqa: PTH116
    format_ = words[0][1:] if words else "%a %b %e %H:%M:%S %Z %Y"
    nanoseconds = f"{now % 10**9:09d}" if profiles.current().number >= (15, 4) else "N"
    moment = time.gmtime(now // 10**9) if "u" in values else time.localtime(now // 10**9)
    text = time.strftime(format_.replace("%s", str(now // 10**9)).replace("%N", nanoseconds), moment)
    print(text.replace("GMT", "UTC") if "u" in values else text)
    return 0
