"""Python 3.9 of the Command Line Tools, run by the python3 of the Linux below.

Newer grammar is refused. The name of the system, F_FULLFSYNC, and fsync over SMB are a Mac's, as in perl/Darwin.pm.
Names that only Linux has are removed. Only the options -I, -B, -S and -c are emulated.
"""

import ast
import errno
import fcntl
import os
import select
import sys
import time
import types

F_FULLFSYNC, F_NOCACHE = 51, 48  # <sys/fcntl.h>
SMBFS = "/linux/run/emulated_mac_smbfs"
GRAMMAR = (3, 9)
LINUX_ALONE = {
    os: ("O_DIRECT", "O_PATH", "O_TMPFILE", "O_NOATIME", "copy_file_range", "eventfd", "fdatasync", "memfd_create",
         "pipe2", "posix_fadvise", "posix_fallocate", "sched_getaffinity", "sched_setaffinity", "splice",
         "login_tty", "getxattr", "listxattr", "removexattr", "setxattr"),
    time: ("CLOCK_BOOTTIME", "CLOCK_TAI"),
    select: ("epoll",),
}  # fmt: skip
linux_fsync, linux_fcntl, linux_utime = os.fsync, fcntl.fcntl, os.utime


def main(argv: list[str]) -> int:
    """Run a text or a file like a Mac's python3."""
    if argv == ["--version"]:
        print("Python 3.9.6")
        return 0
    is_text = False
    while argv and argv[0].startswith("-"):
        letters = argv.pop(0)[1:]
        is_text = letters.endswith("c")
        if set(letters.removesuffix("c")) - set("IBS") or letters in ("", "-"):
            sys.stderr.write(f"EMULATED MAC: python3: -{letters} is not emulated\n")
            return 125
        if is_text:
            break
    if not argv:
        sys.stderr.write("EMULATED MAC: python3: a program on standard input is not emulated\n")
        return 125
    text, name = (argv[0], "<string>") if is_text else (_read(argv[0]), argv[0])
    sys.argv = ["-c", *argv[1:]] if is_text else argv
    code = compile(ast.parse(text, name, feature_version=GRAMMAR), name, "exec")
    _become_darwin()
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(code, vars(module))  # noqa: S102 – what python3 is for
    return 0


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 – as little as can be is imported
        return file.read()


def _become_darwin() -> None:
    sys.platform = "darwin"
    for module, names in LINUX_ALONE.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    vars(os).update(fsync=_fsync, utime=_utime)
    vars(fcntl).update(fcntl=_fcntl, F_FULLFSYNC=F_FULLFSYNC, F_NOCACHE=F_NOCACHE)


def _fcntl(target: object, command: int, argument: int = 0) -> object:
    file = _number_of(target)
    if command == F_NOCACHE:
        return 0
    if command != F_FULLFSYNC:
        return linux_fcntl(file, command, argument)
    mount = _smb_mount_of(file)
    if not mount:
        linux_fsync(file)
        return 0
    if not mount[0]:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    if not _is_for_writing(file):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    _note_flush(mount[1])
    return 0


def _fsync(target: object) -> None:
    file = _number_of(target)
    mount = _smb_mount_of(file)
    if mount and _is_for_writing(file):
        _note_flush(mount[1])
    linux_fsync(file)


def _utime(path: str | bytes | int, *args: object, **options: object) -> None:
    """Set the times of a file. An mtime before the birth time moves the birth time back."""
    linux_utime(path, *args, **options)  # type: ignore[arg-type]
    if isinstance(path, int):
        return
    sys.path.insert(0, "/linux/opt")
    from emulated_mac import attributes

    sys.path.pop(0)
    attributes.note_birth(os.fsdecode(path), follow=bool(options.get("follow_symlinks", True)))


def _number_of(file: object) -> int:
    return file if isinstance(file, int) else int(file.fileno())  # type: ignore[attr-defined]


def _smb_mount_of(file: int) -> tuple[bool, str] | None:
    """For a file on a mounted SMB share: whether the server has full sync, and the file for FLUSHes. Else None."""
    note = f"{SMBFS}/{os.fstat(file).st_dev}"
    try:
        return _read(note) == "full_sync\n", f"{SMBFS}/flushes-{os.stat(note).st_uid}"  # noqa: PTH116 – as above
    except FileNotFoundError:
        return None


def _is_for_writing(file: int) -> bool:
    return bool(linux_fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE)


def _note_flush(path: str) -> None:
    with open(path, "a", encoding="ascii") as file:  # noqa: PTH123 – as above
        file.write("FLUSH\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
