"""Reading trials.jsonl as columns, a bunch of lines at a time."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
from collections.abc import Iterator
from pathlib import Path

from lab.base.untrusted import LONG_LINE, MOST_LINE_BYTES, open_file
from lab.results.columns import Columns, join
from lab.results.decoder import Decoder

_BUNCH_BYTES = 512 << 10  # decoded at once: small enough for the caches of a processor
_KEPT_BYTES = 24 << 20  # of memory, from bunch to bunch


def read_columns(path: Path, end: int, decoder: Decoder) -> Columns:
    """The lines in the first ``end`` bytes of a file, up to the first bad one. OSError where it cannot be read."""
    with open_file(path) as file, _no_garbage_collection():
        return join([decoder.of_trials([]), *_read_bunches(file.fileno(), end, decoder)])


def _read_bunches(descriptor: int, end: int, decoder: Decoder) -> Iterator[Columns]:
    """The columns of each bunch of whole lines, as far as they are good; a bad line is in the last bunch."""
    # After a block of this size was freed, glibc keeps as much for the next bunch; else the kernel clears it anew
    bytearray(_KEPT_BYTES)
    start, size = 0, _BUNCH_BYTES
    while start < end:
        block = _read_block(descriptor, start, min(start + size, end))
        length = block.rfind(b"\n") + 1
        if not length and len(block) > MOST_LINE_BYTES:
            raise OSError(errno.EFBIG, LONG_LINE)
        if length:
            yield (part := decoder.of_lines(block[:length], start))
            if part.problem:
                return
        start, size = start + length, _BUNCH_BYTES if length else 2 * size  # for one long line


def _read_block(descriptor: int, start: int, end: int) -> bytes:
    if not (block := os.pread(descriptor, end - start, start)):
        raise OSError(errno.EIO, "it became shorter meanwhile")
    return block


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Rows make millions of objects and no cycle: looking for cycles takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
