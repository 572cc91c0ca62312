"""The twin of lease_guard.pl."""

import fcntl
import os
import pwd
import select
import signal
import socket
import subprocess
import sys
import time
from typing import Optional

LONGEST_TICK_S = 5
ROUNDS = 4
PAUSE_S = 15
PATIENCE_S = 10
SCRIPT_S = 60


class Step:
    """A command: whether it is the account's, its deadline, its standard input and its line."""

    def __init__(self, words: list[bytes]) -> None:
        self.as_account, self.deadline_s, self.given, self.line = words[0] == b"1", int(words[1]), words[2], words[3]


class Record:
    """A change: what reads its value, and what puts it back."""

    def __init__(self, name: bytes, holds: bool, old: bytes, steps: list[Step]) -> None:
        self.name, self.holds, self.old, self.read, self.undo = name, holds, old, steps[0], steps[1:]


class Guard:
    """What the guard knows."""

    def __init__(self, run: bytes, words: list[bytes]) -> None:
        self.run_token, self.place, self.account = run, words[0], words[2]
        self.lease_s = float(words[1])
        self.strike, self.seize, self.release = words[3:]
        self.records: list[Record] = []

    def learn(self, text: bytes) -> None:
        """Read a message: records, or nothing, which is a sign of life."""
        words = text.split(b"\0")[:-1]
        while words:
            name, holds, old, count = words[:4]
            end = 4 + 4 * int(count)
            steps = [Step(words[begin : begin + 4]) for begin in range(4, end, 4)]
            words = words[end:]
            self.records = [each for each in self.records if each.name != name and os.path.exists(each.name)]
            self.records.append(Record(name, holds == b"1", old, steps))

    def wait_for_silence(self, server: socket.socket, own: int) -> None:
        """Return once the run has been silent for the whole lease; end where another guard, or none, is wanted."""
        tick_s = min(self.lease_s / 40, LONGEST_TICK_S)
        silent_s = 0.0
        while silent_s < self.lease_s:
            if select.select([server], [], [], tick_s)[0]:
                silent_s = 0.0 if self.listen_once(server) else silent_s
            else:
                silent_s += tick_s
            try:
                if os.stat("lease.socket").st_ino != own:
                    sys.exit()
            except OSError:
                sys.exit()

    def listen_once(self, server: socket.socket) -> bool:
        """Whether somebody said something to the end."""
        until, message = time.monotonic() + PATIENCE_S, b""
        try:
            client = server.accept()[0]
            with client:
                while True:
                    client.settimeout(max(until - time.monotonic(), 0.01))
                    part = client.recv(65536)
                    if not part:
                        break
                    message += part
                if not message.endswith(b"."):
                    return False
                self.learn(message[:-1])
                client.sendall(b"kept\n")
        except OSError:
            return False
        return True

    def has_seized(self) -> bool:
        """Whether the host is this guard's now. Nobody else looks at the lock, or takes it, meanwhile."""
        folder = os.open(".", os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            return self.script(self.seize, b"%s\n%d\n" % (self.run_token, os.getpid())) == b"seized"
        finally:
            os.close(folder)

    def put_back(self) -> None:
        """Put back the newest first; what fails is tried again, for the other host may be what is in its way."""
        for attempt in range(ROUNDS):
            if not self.put_back_once():
                break
            if attempt < ROUNDS - 1:
                time.sleep(PAUSE_S)
        for name in ("lease", "lease.socket"):
            try:
                os.unlink(name)
            except OSError:
                pass  # somebody else was first
        self.script(self.release, b"lapsed\n")

    def put_back_once(self) -> dict[bytes, Record]:
        """What failed, by name."""
        failed: dict[bytes, Record] = {}
        for record in reversed(self.records):
            if not os.path.exists(record.name):
                continue
            if (record.holds and failed) or not self.is_back(record):
                failed[record.name] = record
                continue
            # a later one of the same thing that failed would now bring a wrong value
            same = [each for each in self.records if each.name in failed and each.read.line == record.read.line]
            for each in same:
                del failed[each.name]
            self.script(self.strike, b"".join(each.name + b"\n" for each in [record, *same]))
        return failed

    def is_back(self, record: Record) -> bool:
        """Whether its value is the old one again."""
        value = self.run(record.read)
        if value is None or value == record.old:
            return value is not None
        for step in record.undo:
            self.run(step)
        return self.run(record.read) == record.old

    def script(self, text: bytes, given: bytes) -> Optional[bytes]:
        """What a script of the lab's prints."""
        return self.finish([b"/bin/sh", b"-c", text, b"sh", self.place], given, SCRIPT_S, False)

    def run(self, step: Step) -> Optional[bytes]:
        """What a command prints."""
        return self.finish([b"/bin/sh", b"-c", step.line], step.given, step.deadline_s, step.as_account)

    def finish(self, words: list[bytes], given: bytes, deadline_s: int, as_account: bool) -> Optional[bytes]:
        """What it prints, stripped; None where it does not end in time."""
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: self.begin(as_account)
        )
        try:
            return process.communicate(given, deadline_s)[0].strip()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    def begin(self, as_account: bool) -> None:
        """In the new process: a group of its own, and the account."""
        os.setpgid(0, 0)
        if not as_account or not self.account:
            return
        try:
            entry = pwd.getpwuid(int(self.account))
            os.setgroups([entry.pw_gid])
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            os.environ.update(HOME=entry.pw_dir, USER=entry.pw_name, LOGNAME=entry.pw_name)
        except BaseException:
            os._exit(126)


def listen() -> tuple[socket.socket, int]:
    """The guard's socket, and what tells it from every other one."""
    os.umask(0o077)
    try:
        os.unlink("lease.socket")
    except OSError:
        pass  # there is none
    server = socket.socket(socket.AF_UNIX)
    server.bind("lease.socket")
    server.listen(9)
    return server, os.stat("lease.socket").st_ino


def detach() -> None:
    """Go into the background: the process above prints the number of this one, and ends."""
    child = os.fork()
    if child:
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        os._exit(0)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def main(*words: str) -> None:
    """Guard what the run on standard input changes."""
    run = sys.stdin.buffer.readline().rstrip(b"\n")
    try:
        with open("lock", "rb") as lock:
            if not lock.readline().startswith(run + b" "):
                sys.exit("too late: this host puts it back already")
    except OSError as error:
        sys.exit(f"no lock: {error.strerror}")
    guard = Guard(run, [os.fsencode(word) for word in words])
    guard.learn(sys.stdin.buffer.read())
    server, own = listen()
    detach()
    guard.wait_for_silence(server, own)
    server.close()
    if guard.has_seized():
        guard.put_back()


if __name__ == "__main__":
    main(*sys.argv[1:])
