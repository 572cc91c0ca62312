"""Advertises an SMB server by DNS-SD until its input ends: ``python -m support.advertiser ADDRESS``."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from zeroconf import ServiceInfo, Zeroconf

from lab.base.present import present
from support.paths import ROOT, TESTS

NAME, HOST = "Big NAS", "nas.local"


@contextmanager
def advertised(pid: int, address: str) -> Iterator[None]:
    command = ["nsenter", "--target", str(pid), "--net", sys.executable, "-m", "support.advertiser", address]
    environment = {"PYTHONPATH": f"{ROOT}:{TESTS}"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        try:
            assert present(process.stdout).readline() == b"ready\n"
            yield
        finally:
            present(process.stdin).close()


def main(address: str) -> None:
    addresses = [socket.inet_aton(text) for text in (address, "203.0.113.7")]  # the second leads nowhere
    with Zeroconf() as zeroconf:
        for service in ("_smb._tcp.local.", "_ssh._tcp.local."):
            zeroconf.register_service(
                ServiceInfo(service, f"{NAME}.{service}", port=445, addresses=addresses, server=f"{HOST}.")
            )
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
