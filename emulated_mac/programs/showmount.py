"""showmount(8), as showmount.c of NFS-63 prints; only -e is emulated."""

import getopt
import socket
import sys

from .. import mac_errors, sunrpc
from ..kernel_client import call
from ..sunrpc import MOUNT

DEADLINE_S = 10.0


def main(argv: list[str]) -> int:
    """The exports of a host, by default of this one."""
    try:
        options, words = getopt.getopt(argv, "adeAE36")
    except getopt.GetoptError:
        options, words = [], ["", ""]
    if len(words) > 1:
        print("usage: showmount [-ade36] [host]", file=sys.stderr)
        return 1
    host = words[0] if words else "localhost"
    try:
        address = socket.gethostbyname(host)
        port = sunrpc.port_of(address, MOUNT, 3, DEADLINE_S)
        # the server below hides exports that a host may not mount; macOS's mountd lists all
        exports = call("exported") if address.startswith("127.") else sunrpc.list_exports(address, port, DEADLINE_S)
    except socket.gaierror:
        print(f"showmount: can't resolve host {host}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"showmount: Cannot retrieve info from host: {host}: {mac_errors.text(error.errno or 0)}", file=sys.stderr
        )
        return 1
    if ("-e", "") not in options:
        print(f"{'All mount points' if ('-a', '') in options else 'Hosts'} on {host}:")
        return 0
    print(f"Exports list on {host}:")
    for path, groups in exports:
        print(f"{path:34} {' '.join(groups) or 'Everyone'}")
    return 0
