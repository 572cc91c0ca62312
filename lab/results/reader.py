"""Reading trials.jsonl as columns. Where it is large, a second process reads its second half."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from lab.results.decoder import Columns, Decoder, join

_BUNCH_BYTES = 512 << 10  # decoded at once: small enough for the caches of a processor
_KEPT_BYTES = 24 << 20  # of memory, from bunch to bunch
_LARGE_BYTES = 256 << 20  # below this the start of a second process takes longer than it saves


def read_columns(path: Path, end: int, decoder: Decoder) -> Columns:
    """The lines in the first ``end`` bytes of a file, up to the first bad one. OSError where it cannot be read."""
    with path.open("rb", buffering=0) as file, tempfile.TemporaryFile() as output, _no_garbage_collection():
        middle = _middle(file.fileno(), end) if end >= _LARGE_BYTES and (os.cpu_count() or 1) > 1 else end
        second = _start_second(path, middle, end, decoder.schema, output) if middle < end else None
        try:
            parts = [decoder.of_trials([]), *_read_parts(file.fileno(), 0, middle, decoder)]
            if not parts[-1].problem:
                parts += _result_of(second, output, decoder) or _read_parts(file.fileno(), middle, end, decoder)
        finally:
            if second:
                second.kill()
                second.wait()
    return join(parts)


def _middle(descriptor: int, end: int) -> int:
    """Where the first line after the middle starts, or the end."""
    position = end // 2
    while position < end:
        block = _read_block(descriptor, position, min(position + _BUNCH_BYTES, end))
        if (line_end := block.find(b"\n")) >= 0:
            return position + line_end + 1
        position += len(block)
    return end


def _read_parts(descriptor: int, start: int, end: int, decoder: Decoder) -> Iterator[Columns]:
    """The columns of the lines from byte ``start`` to byte ``end``, a bunch at a time; a bad line is in the last."""
    # After a block of this size was freed, glibc keeps as much for the next bunch; else the kernel clears it anew
    bytearray(_KEPT_BYTES)
    size = _BUNCH_BYTES
    while start < end:
        block = _read_block(descriptor, start, min(start + size, end))
        length = block.rfind(b"\n") + 1
        if length:
            yield (part := decoder.of_lines(block[:length]))
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


def _start_second(path: Path, start: int, end: int, schema: int, output: IO[bytes]) -> subprocess.Popen[bytes] | None:
    """A process that reads from byte ``start`` to byte ``end``; None where none can be started."""
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        return subprocess.Popen(
            [*command, *map(str, (path, start, end, schema))], stdin=subprocess.DEVNULL, stdout=output, env=environment
        )
    except OSError:
        return None


def _result_of(second: subprocess.Popen[bytes] | None, output: IO[bytes], decoder: Decoder) -> list[Columns]:
    """What the second process read, in the levels of ``decoder``; nothing where it failed."""
    if second is None or second.wait():
        return []
    size_bytes = output.seek(0, os.SEEK_END)
    output.seek(0)
    written = []
    while output.tell() < size_bytes:
        written.append(pickle.load(output))  # of a process of our own
    *parts, combinations = written
    numbers = np.array([decoder.combinations[texts] for texts in combinations], np.int32)
    for part in parts:
        part.combinations = numbers[part.combinations]
    return parts


def main() -> None:
    """Write the columns of a part of a file to standard output, for :func:`read_columns` of another process."""
    name, *numbers = sys.argv[1:]
    start, end, schema = map(int, numbers)
    decoder = Decoder(schema)
    with Path(name).open("rb", buffering=0) as file, _no_garbage_collection():
        for part in _read_parts(file.fileno(), start, end, decoder):
            pickle.dump(part, sys.stdout.buffer, protocol=5)
    pickle.dump(list(decoder.combinations), sys.stdout.buffer, protocol=5)
