"""Numbers and texts of errors on macOS that differ from Linux's (sys/errno.h and strerror(3) of macOS)."""

import errno
import os

MAC = {
    errno.EAGAIN: (35, "Resource temporarily unavailable"),
    errno.EBUSY: (16, "Resource busy"),
    errno.ERANGE: (34, "Result too large"),
    errno.ENOTSUP: (45, "Operation not supported"),
    errno.ETIMEDOUT: (60, "Operation timed out"),
    errno.ECONNREFUSED: (61, "Connection refused"),
    errno.ECONNRESET: (54, "Connection reset by peer"),
    errno.EHOSTDOWN: (64, "Host is down"),
    errno.EHOSTUNREACH: (65, "No route to host"),
    errno.ENETUNREACH: (51, "Network is unreachable"),
    errno.ENAMETOOLONG: (63, "File name too long"),
    errno.ENOTEMPTY: (66, "Directory not empty"),
    errno.ESTALE: (70, "Stale NFS file handle"),
    errno.EKEYREJECTED: (80, "Authentication error"),  # EAUTH, which Linux lacks
    errno.EPROTONOSUPPORT: (43, "Protocol not supported"),
    1074: (74, "RPC prog. not avail"),  # EPROGUNAVAIL and EPROGMISMATCH, which Linux lacks too
    1075: (75, "Program version wrong"),
}


def number(code: int) -> int:
    """A Mac's number for a Linux error; numbers up to 34 are the same."""
    return MAC.get(code, (code, ""))[0]


def text(code: int) -> str:
    """A Mac's strerror text for a Linux error."""
    return MAC[code][1] if code in MAC else os.strerror(code)


def of(error: OSError) -> int:
    """The errno of a failed connection; a name without an address counts as EHOSTUNREACH."""
    if isinstance(error, TimeoutError):
        return errno.ETIMEDOUT
    return error.errno if error.errno and error.errno > 0 else errno.EHOSTUNREACH
