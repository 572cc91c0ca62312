"""rsync through the file cache, which only Apple's rsync can be told."""

from collections.abc import Sequence

from lab.base.errors import Unsupported
from lab.hosts import Host
from lab.workloads.rsync import Rsync


class RsyncCache(Rsync):
    """Copies between folders of one host, because the other end of a remote shell may have no --cache.

    Without ``--cache``, Apple's rsync opens files with ``F_NOCACHE``: 2.6.9 (``rsync/options.c``, since rsync-37.3) and
    openrsync (``openrsync/main.c``).
    """

    name = "rsync-cache"
    needs_mount = True
    only_on = "macos"

    def version(self, host: Host, call: Sequence[str]) -> str:
        """See :meth:`Rsync.version`; names the option, too. Raises Unsupported unless it is Apple's."""
        implementation = super().version(host, call)
        if not implementation.startswith(("rsync 2.6.9,", "openrsync,")):
            raise Unsupported(
                f"rsync-cache: {implementation} knows no --cache",
                "let macOS's own rsync come first in the PATH there, or take rsync-cache out of the sweep",
                host=host.name,
            )
        return f"{implementation}, --cache"

    def more_flags(self, version: str) -> tuple[str, ...]:
        """Use the cache like cp does."""
        return ("--cache",)


TOOL = RsyncCache()
