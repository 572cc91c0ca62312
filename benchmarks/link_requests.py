"""How long the link of a local lab takes for one request, as a share of its time on the wire; and what iperf3 reaches.

    sudo python benchmarks/link_requests.py [--rate 1gbit] [--delay none] [--rounds 80]

A program on the client requests bytes from another on the server. The time of a request is until all bytes arrived,
less the time of a request of 64 bytes. Requests follow a pause of 4 ms, or each other directly. On the wire are the
payload, the headers of its frames and what Ethernet adds to each, at the link's rate. At MTU 1500 and 9000, with the
system's TCP buffers.
"""

import argparse
import json
import multiprocessing as mp
import socket
import statistics
import struct
import time
from multiprocessing.synchronize import Event
from typing import Any

from bench_lab import BenchLab, bench_lab

from lab.local import syscalls
from lab.local.network import ETHERNET_OVERHEAD_BYTES, bits_per_second
from lab.local.state import ADDRESS

SMALL, SIZES = 64, [64 << 10, 230 << 10, 1 << 20, 4 << 20]
PAUSES_S = (0.004, 0.0)
PORT = 5300
ETHERNET_HEADER, TCP_IP_HEADERS = 14, 52  # with time stamps
WARM_UP = 20


def main() -> None:
    """Print a row for each MTU and pause, and the rates of iperf3."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="1gbit", help="of the link (default: 1gbit)")
    parser.add_argument("--delay", default="none", help="of one direction (default: none)")
    parser.add_argument("--rounds", type=int, default=80, help="requests of each size (default: 80)")
    args = parser.parse_args()
    print("median (10th, 90th percentile) of the time of a request over that on the wire; iperf3 in Mbit/s of payload")
    with bench_lab("--rate", args.rate, "--delay", args.delay) as lab:
        for mtu in (1500, 9000):
            for host in ("client", "server"):
                inside(lab, host, f"ip link set dev eth0 mtu {mtu}")
            for pause_s, times in measure(lab, args.rounds).items():
                shares = "  ".join(share(times, size, mtu, bits_per_second(args.rate)) for size in SIZES)
                print(f"MTU {mtu}, {'after a pause' if pause_s else 'back to back '}: {shares}", flush=True)
            print(
                f"MTU {mtu}, iperf3 to and from the server: {iperf3(lab):.0f} {iperf3(lab, '--reverse'):.0f}",
                flush=True,
            )


def share(times: dict[int, list[float]], size: int, mtu: int, rate: float) -> str:
    """The time of a request of this size over that on the wire, of ``rate`` bit/s."""
    frames = size / (mtu - TCP_IP_HEADERS)
    on_wire_s = (size + frames * (TCP_IP_HEADERS + ETHERNET_HEADER + ETHERNET_OVERHEAD_BYTES)) * 8 / rate
    base = statistics.median(times[SMALL])
    low, *_, high = statistics.quantiles(times[size], n=10)
    middle = statistics.median(times[size])
    shares = [f"{(seconds - base) / on_wire_s:.2f}" for seconds in (middle, low, high)]
    return f"{size >> 10} KiB {shares[0]} ({shares[1]}, {shares[2]})"


def measure(lab: BenchLab, rounds: int) -> dict[float, dict[int, list[float]]]:
    """Seconds of each request, by pause and size, of two processes in the networks of the hosts."""
    ready = mp.Event()
    answers: mp.Queue[Any] = mp.Queue()
    server = mp.Process(target=serve, args=(lab.pid("server"), ready), daemon=True)
    server.start()
    ready.wait()
    client = mp.Process(target=ask, args=(lab.pid("client"), rounds, answers), daemon=True)
    client.start()
    times: dict[float, dict[int, list[float]]] = answers.get()
    client.join()
    server.kill()
    server.join()
    return times


def serve(pid: int, ready: Event) -> None:
    """Send as many bytes as each request asks for, to one client."""
    syscalls.enter_network(pid)
    with socket.create_server(("", PORT)) as listener:
        ready.set()
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    block = memoryview(bytes(max(SIZES)))
    while request := connection.recv(8, socket.MSG_WAITALL):
        connection.sendall(block[: struct.unpack("Q", request)[0]])


def ask(pid: int, rounds: int, answers: mp.Queue[Any]) -> None:
    """Time the requests, and put the seconds of each into ``answers``."""
    syscalls.enter_network(pid)
    connection = socket.create_connection((ADDRESS["server"], PORT))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    block = bytearray(max(SIZES))

    def seconds(size: int, pause_s: float) -> float:
        time.sleep(pause_s)
        began = time.perf_counter()
        connection.sendall(struct.pack("Q", size))
        remaining = size
        while remaining:
            remaining -= connection.recv_into(block)
        return time.perf_counter() - began

    for _ in range(WARM_UP):
        seconds(1 << 20, 0)
    answers.put(
        {
            pause_s: {size: [seconds(size, pause_s) for _ in range(rounds)] for size in (SMALL, *SIZES)}
            for pause_s in PAUSES_S
        }
    )


def iperf3(lab: BenchLab, *direction: str) -> float:
    """Mbit/s of payload that arrive in three seconds."""
    inside(lab, "server", "iperf3 --server --one-off --daemon")
    output = inside(lab, "client", f"iperf3 --client {ADDRESS['server']} --time 3 --json {' '.join(direction)}")
    return float(json.loads(output)["end"]["sum_received"]["bits_per_second"]) / 1e6


def inside(lab: BenchLab, host: str, command: str) -> str:
    """What a command prints inside a host."""
    return lab.lab("local", "exec", "--name", lab.name, host, "--", *command.split())


if __name__ == "__main__":
    main()
