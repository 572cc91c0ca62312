"""The watch over the server of a mount: it ends nothing that moves, nor what waits for a server that answers."""

import os
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.fake_host import FakeHost

from lab.base.errors import HostError
from lab.hosts import Result
from lab.hosts.host import STOPPED
from lab.platforms.clock import STOPWATCH
from lab.platforms.linux.platform import Linux
from lab.platforms.timing import MountServer

# An interface whose bytes are the size of the file of its name, or, where that is `busy`, more with each look
COUNTS = """
sub counts { return ('nothing') }
sub moved {
    open my $looks, '>>', 'looks';
    print $looks 'x';
    close $looks;
    return $_[0] eq 'busy' ? 20_000 * -s 'looks' : -s $_[0];
}
"""
FASTER = 80
TIMES = ["ANSWER_S", "BEGIN_S", "FAILING_S", "LOOK_S", "QUIET_S"]
LONG_ENOUGH = 14  # looks: after so many a server that does not answer has been told
UNTIL = "until {}; do sleep 0.01; done"


def timed(
    folder: Path, server: str, command: str, interface: str = "quiet"
) -> tuple[list[str], subprocess.CompletedProcess[str]]:
    """What the stopwatch reports of a server while a command runs, and the end; all of it is in the file `report`."""
    for name in ("quiet", "looks"):
        (folder / name).write_text("")
    text, file = COUNTS + STOPWATCH, folder / "stopwatch"
    times = re.compile(r"^((?:my \$)?(\w+_S) += )(\d+)", re.MULTILINE)
    assert sorted(match[2] for match in times.finditer(text)) == TIMES
    file.write_text(times.sub(lambda match: f"{match[1]}{int(match[3]) / FASTER}", text))
    argv = ["perl", str(file), interface, "", server, "", "sh", "-c", command]
    environment = os.environ | {"LC_ALL": "C"}
    with (folder / "report").open("w") as report:
        process = subprocess.run(
            argv, cwd=folder, env=environment, stdout=report, stderr=subprocess.PIPE, text=True, timeout=60
        )
    return [line for line in (folder / "report").read_text().splitlines() if line.startswith("unanswered")], process


def address_of(server: socket.socket) -> str:
    server.bind(("127.0.0.1", 0))
    return f"127.0.0.1 {server.getsockname()[1]}"


def test_a_server_that_takes_no_connection_is_told_unless_bytes_move(tmp_path: Path) -> None:
    with socket.socket() as server:
        address = address_of(server)
        report, process = timed(tmp_path, address, UNTIL.format("grep -q unanswered report"))
    assert (report, process.stderr) == ([f"unanswered {address}"], "")
    assert "exit 0\n" in (tmp_path / "report").read_text(), "it only says so: whoever reads it ends the transfer"
    enough = UNTIL.format(f'[ "$(wc -c < looks)" -gt {LONG_ENOUGH} ]')
    with socket.socket() as server:
        report, process = timed(tmp_path, address_of(server), enough, "busy")
    assert (report, process.stderr) == ([], "")


def test_a_server_that_answers_is_left_alone_however_long_nothing_moves(tmp_path: Path) -> None:
    with socket.socket() as server, ThreadPoolExecutor(1) as threads:
        address = address_of(server)
        server.settimeout(60)
        server.listen()

        def answer() -> None:
            for _ in range(2):
                server.accept()[0].close()
            (tmp_path / "asked-twice").touch()

        threads.submit(answer)
        report, process = timed(tmp_path, address, UNTIL.format("[ -e asked-twice ]"))
    assert (report, process.stderr) == ([], "")


LOST, TOO_LONG = "sh -c 'exit 1'", "sh -c 'echo message too long; exit 1'"


@pytest.mark.parametrize(
    ("pings", "is_told"),
    [((LOST, "true"), True), ((LOST, LOST, "true"), True), ((TOO_LONG, "true"), False), ((LOST, LOST), False)],
)
def test_a_server_that_answers_small_packets_alone_is_told(tmp_path: Path, pings: list[str], is_told: bool) -> None:
    with socket.socket() as server:
        address = address_of(server)
        server.listen(100)
        until = UNTIL.format(f'grep -q unanswered report || [ "$(wc -c < looks)" -gt {3 * LONG_ENOUGH} ]')
        report, process = timed(tmp_path, "\n".join([address, *pings]), until)
    assert (report, process.stderr) == ([f"unanswered {address}"] if is_told else [], "")


def test_without_a_server_nothing_is_watched_and_the_watch_ends_with_the_transfer(tmp_path: Path) -> None:
    with socket.socket() as server:
        address = address_of(server)
        for watched, command in (("", "sleep 0.2"), (address, "true")):
            report, process = timed(tmp_path, watched, command)
            assert (report, process.stderr) == ([], "")
            assert watched or not (tmp_path / "looks").read_text()
    processes = subprocess.run(["pgrep", "-f", str(tmp_path / "stopwatch")], capture_output=True, text=True)
    assert processes.stdout == ""


def test_the_transfer_then_fails_with_who_is_gone_and_what_to_do() -> None:
    platform, sent = Linux(host := FakeHost()), list[tuple[str, ...]]()

    def stop(argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str) -> Result:
        sent.append(argv)
        return Result(argv, STOPPED, stop_mark, "", 12.0)

    vars(host)["_execute"] = stop  # ends what it runs once that would print its mark
    platform.clock.directory = "/tmp/lab"
    with pytest.raises(HostError) as caught:
        platform.clock.time_transfer("eth0", "", ("cp", "a", "b"), 60, MountServer("192.0.2.2", 445, "smb"))
    assert sent == [("perl", "/tmp/lab/stopwatch.pl", "eth0", "", "192.0.2.2 445", "", "cp", "a", "b")]
    message = "client: the server at 192.0.2.2 no longer answers on port 445 (SMB): no byte moved"
    assert str(caught.value).startswith(message)
    assert "look whether that host is up" in caught.value.remedy
    assert MountServer("192.0.2.2", 445, "smb", (("ping", "a b"),)).words == "192.0.2.2 445\nping 'a b'"
