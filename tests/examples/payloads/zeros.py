"""One large file of zeros: what compression on the way would make of it shows in the bytes on the wire."""

from lab.base.errors import TransferError
from lab.hosts import Host
from lab.workloads.file import OneFile, deadline_s


class Zeros(OneFile):
    """A single file that compresses to nothing."""

    name = "zeros"

    def make(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Write the zeros, so that the file has no hole."""
        write = 'head -c "$1" /dev/zero > "$2" && chmod 644 "$2"'
        host.shell(write, str(size_bytes), path, deadline_s=deadline_s(size_bytes))

    def check(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        compare = 'head -c "$1" /dev/zero | cmp - "$2"'
        if host.shell(compare, str(size_bytes), path, deadline_s=deadline_s(size_bytes), check=False).exit_code != 0:
            raise TransferError(f"{host.name}: {path} does not hold what was sent")


PAYLOAD = Zeros()
