"""A folder of many files of noise, with the paths and sizes of a manifest."""

from typing import Self

from lab.base.present import present
from lab.base.scripts import read_script
from lab.design.manifest import Manifest
from lab.design.workload import Workload
from lab.hosts import Host
from lab.hosts.command import run_perl
from lab.workloads.file import ROUND, deadline_s
from lab.workloads.workload import Payload

TREE = ROUND + read_script(__file__, "tree.pl")
BLOCK_BYTES = 4096  # of tmpfs, ext4, HFS+ and APFS: a file takes a multiple of it


class Tree(Payload):
    """The tree of a workload. One command makes it, and one compares it."""

    name = "tree"
    is_folder = True

    def __init__(self, workload: Workload | None = None):
        self._workload = workload

    def of(self, workload: Workload) -> Self:
        return type(self)(workload)

    def files(self, size_bytes: int) -> int:
        return len(self._manifest(size_bytes).files)

    def room(self, size_bytes: int) -> int:
        """See :meth:`Payload.room`. A file takes whole blocks, and a folder one."""
        manifest = self._manifest(size_bytes)
        blocks = sum(-(-file.size_bytes // BLOCK_BYTES) for file in manifest.files) + len(manifest.folders) + 1
        return blocks * BLOCK_BYTES

    @property
    def is_second_copy(self) -> bool:
        return self._change_step > 0

    def moved(self, size_bytes: int) -> int:
        if not self.is_second_copy:
            return size_bytes
        return sum(file.size_bytes for file in self._manifest(size_bytes).files[:: self._change_step])

    def change(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """See :meth:`Payload.change`. Their times change, too."""
        self.perform("change", host, path, size_bytes, seed)

    def names(self) -> str:
        return self._whole_manifest.lines()

    def name_chars(self) -> int:
        return sum(len(file.path.rpartition("/")[2]) for file in self._whole_manifest.files)

    @property
    def _whole_manifest(self) -> Manifest:
        return self._manifest(present(self._workload).planned_size)

    @property
    def _change_step(self) -> int:
        """Every this many files, one is changed; 0 for none."""
        changed = present(self._workload).changed
        return round(1 / changed) if changed else 0

    def perform(self, mode: str, host: Host, path: str, size_bytes: int, seed: str) -> str:
        """See :meth:`Payload.perform`. A check compares names, too, and finds files that were not sent."""
        manifest = self._manifest(size_bytes)
        words = run_perl(TREE, mode, path, seed, str(self._change_step))
        limit_s = deadline_s(manifest.size_bytes, len(manifest.files))
        return host.run(*words, given=manifest.lines(), deadline_s=limit_s).stdout

    def _manifest(self, size_bytes: int) -> Manifest:
        """The tree of this size. A second copy moves less than its tree, whose size is in the sweep."""
        workload = present(self._workload)  # every sweep with a tree has one
        return workload.tree(workload.planned_size if workload.changed else size_bytes)


PAYLOAD = Tree()
