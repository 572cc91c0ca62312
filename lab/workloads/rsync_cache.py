"""rsync through the file cache; only Apple's can be told."""

from __future__ import annotations

from collections.abc import Sequence

from lab.base.errors import Unsupported
from lab.hosts import Host
from lab.workloads.rsync import Rsync


class RsyncCache(Rsync):
    """Copies between folders of one host, so the share must be mounted: the other end of a shell may have no --cache.

    Apple's rsync opens files with ``F_NOCACHE`` unless told ``--cache``: its 2.6.9 (``rsync/options.c``, since
    rsync-37.3) and openrsync (``openrsync/main.c``).
    """

    name = "rsync-cache"
    needs_mount = True
    only_on = "macos"

    def version(self, host: Host, call: Sequence[str]) -> str:
        """See :meth:`Rsync.version`; it names the option, too. Raises Unsupported for one that is not Apple's."""
        engine = super().version(host, call)
        if not engine.startswith(("rsync 2.6.9,", "openrsync,")):
            raise Unsupported(
                f"rsync-cache: {engine} knows no --cache",
                "have macOS's own rsync come first in the PATH there, or take rsync-cache out of the sweep",
                host=host.name,
            )
        return f"{engine}, --cache"

    def more(self, version: str) -> tuple[str, ...]:
        """The cache is used as cp uses it."""
        return ("--cache",)


TOOL = RsyncCache()
