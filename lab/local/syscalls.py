"""System calls that Python 3.11 does not wrap."""

import ctypes
import os
import resource
import signal
import struct
from contextlib import suppress
from pathlib import Path

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_SLAVE = 0x4000, 0x80000
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_TIMERSLACK, PR_SET_CHILD_SUBREAPER = 1, 22, 29, 36
SECCOMP_MODE_FILTER = 2
NETATALK_FILES = 65535  # the descriptors that cnid_metad asks for; it exits where it is refused
# By machine: audit architecture, setrlimit, prlimit64
SYSCALLS = {"x86_64": (0xC000003E, 160, 302), "aarch64": (0xC00000B7, 164, 261)}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def enter_network(pid: int) -> None:
    """Move the calling thread into the network namespace of process ``pid``."""
    with Path(f"/proc/{pid}/ns/net").open("rb") as namespace:
        _check(_libc.setns(namespace.fileno(), CLONE_NEWNET))


def keep_mounts_private() -> None:
    """Move this process into a mount namespace of its own, in which unmounts of the machine take effect."""
    _check(_libc.unshare(CLONE_NEWNS))
    _check(_libc.mount(None, b"/", None, MS_REC | MS_SLAVE, None))


def die_with_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel send this process a signal once the thread of ``parent`` that started it is gone."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0))
    if os.getppid() != parent:  # the parent ended before the call
        os.kill(os.getpid(), number)


def be_punctual() -> None:
    """Give this process the highest priority and exact waits; otherwise the kernel may lengthen a wait by 50 µs."""
    with suppress(PermissionError):  # in a container root may lack CAP_SYS_NICE
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    _check(_libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0))


def adopt_orphans() -> None:
    """Become the parent of every descendant whose parent ends, so that no descendant is lost or stays a zombie."""
    _check(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def allow_many_files() -> None:
    """Let netatalk's cnid_metad run although the limit on open files is low and may not be raised.

    cnid_metad exits unless setrlimit(RLIMIT_NOFILE, 65535) succeeds, but never needs so many files. If this process may
    not raise the limit, a seccomp filter, which all children inherit, answers such calls with success.
    """
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (NETATALK_FILES, NETATALK_FILES))
    except (OSError, ValueError):
        _pretend_file_limit()


def _pretend_file_limit() -> None:
    machine = SYSCALLS.get(os.uname().machine)
    if machine is None:
        return  # netatalk then reports the limit itself
    audit, setrlimit, prlimit64 = machine
    load, equal, answer = 0x20, 0x15, 0x06  # BPF: load a word, jump if equal, return
    number, architecture, first, second, third = 0, 4, 16, 24, 32  # offsets in struct seccomp_data
    allow, succeed = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with errno 0
    program = [  # (operation, instructions to skip if true, if false, operand)
        (load, 0, 0, architecture),
        (equal, 0, 9, audit),
        (load, 0, 0, number),
        (equal, 0, 2, setrlimit),
        (load, 0, 0, first),
        (equal, 6, 5, resource.RLIMIT_NOFILE),
        (equal, 0, 4, prlimit64),
        (load, 0, 0, second),
        (equal, 0, 2, resource.RLIMIT_NOFILE),
        (load, 0, 0, third),  # prlimit64 without a new limit only reads
        (equal, 0, 1, 0),
        (answer, 0, 0, allow),
        (answer, 0, 0, succeed),
    ]
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    _check(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(header), 0, 0))
