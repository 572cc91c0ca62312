"""The sampler, run for real on this system, with its own loopback as the data link."""

import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.changed_scripts import changed
from support.fake_host import FakeHost
from support.waiting import wait_until

from lab.platforms import Reading
from lab.platforms.clock import TAKE_SAMPLES
from lab.platforms.linux import clock
from lab.platforms.linux.clock import LinuxClock

pytestmark = pytest.mark.skipif(not Path("/sys/class/net/lo").exists(), reason="reads the counters of Linux")


# It looks when nothing moves, and at processes, more often than on a host
SOONER = ("$IDLE_S = 1;", "$IDLE_S = 0.1;"), ("$PROCESSES_S = 0.4;", "$PROCESSES_S = 0.1;"), ("= 500;", "= 5;")


@contextmanager
def sampling(folder: Path) -> Iterator[subprocess.Popen[str]]:
    program, file = folder / "sampler.pl", folder / "samples" / "file"
    program.write_text(changed(LinuxClock.sampler, *SOONER), encoding="utf-8")
    file.parent.mkdir()
    argv = ("perl", str(program), str(file), "127.0.0.1", clock.KEPT, *clock.list_sampled_files("lo"))
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def traffic() -> Iterator[None]:
    """Bytes through the loopback until the end, at a rate that leaves the machine time for something else."""
    is_over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender:
        receiver, _ = server.accept()

        def move() -> None:
            while not is_over.wait(0.01):
                sender.sendall(bytes(65536))
                receiver.recv(2**20)

        thread = threading.Thread(target=move)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
            receiver.close()


def readings(folder: Path) -> tuple[Reading, ...]:
    file = folder / "samples" / "file"
    return tuple(clock.parse_samples(file.read_text(encoding="utf-8") if file.exists() else "", "lo"))


def test_while_bytes_move_it_counts_processes_and_connections_too(tmp_path: Path) -> None:
    with sampling(tmp_path) as process, traffic():
        wait_until(lambda: sum(bool(reading.connections) for reading in readings(tmp_path)) > 1)
        wait_until(lambda: sum(bool(reading.processes) for reading in readings(tmp_path)) > 1)
        assert process.poll() is None
    taken = readings(tmp_path)
    assert [reading.at_s for reading in taken] == sorted(reading.at_s for reading in taken)
    assert all(reading.net.keys() == set(clock.NET) and reading.cores for reading in taken)
    assert taken[-1].net["tx_bytes"] > taken[0].net["tx_bytes"]
    connections = [connection for reading in taken for connection in reading.connections]
    buffers = [connection.rcvbuf for connection in connections if connection.moved_bytes]
    assert buffers
    assert all(buffers)


def test_it_ends_with_its_folder_and_says_nothing(tmp_path: Path) -> None:
    with sampling(tmp_path) as process:
        wait_until(lambda: readings(tmp_path))
        (tmp_path / "samples" / "file").unlink()
        (tmp_path / "samples").rename(tmp_path / "gone")
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def take_samples(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", TAKE_SAMPLES, "sh", str(file)], capture_output=True, text=True)


def test_what_was_taken_is_not_taken_again(tmp_path: Path) -> None:
    none = take_samples(tmp_path / "none")  # of a host without a sampler
    assert (none.returncode, none.stdout, none.stderr, [*clock.parse_samples(none.stdout, "lo")]) == (0, "", "", [])
    with sampling(tmp_path):
        wait_until(lambda: readings(tmp_path))
        taken = take_samples(tmp_path / "samples" / "file")
        first = list(clock.parse_samples(taken.stdout, "lo"))
        wait_until(lambda: readings(tmp_path))
        assert readings(tmp_path)[0].at_s > first[-1].at_s


def test_its_file_lies_in_the_labs_own_folder_and_no_link_is_followed(tmp_path: Path) -> None:
    linux_clock = LinuxClock(FakeHost())
    linux_clock.directory = "/srv/own"
    assert linux_clock._samples_file == "/srv/own/samples"
    with sampling(tmp_path):
        wait_until(lambda: readings(tmp_path))
        (tmp_path / "theirs").touch()
        (tmp_path / "link").symlink_to(tmp_path / "theirs")
        (tmp_path / "link").rename(tmp_path / "samples" / "file")
        time.sleep(0.35)  # it would have written some three times
    assert (tmp_path / "theirs").read_text() == ""
