"""Reading trials.jsonl as columns, by as many processes as pay: each takes the next piece until none is left."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lab.results.decoder import Columns, Decoder, joined

_BUNCH_BYTES = 512 << 10  # decoded at once: small enough for the caches of a processor
_KEPT_BYTES = 24 << 20  # of memory, from bunch to bunch
_PIECE_BYTES = 16 << 20  # taken at once by a process
_PIECES_AT_MOST = 250  # a piece is named by one byte
_PROCESS_BYTES = 128 << 20  # what one more process must have to read, or its start does not pay
_PROCESSES_AT_MOST = 8


def read(path: Path, whole_bytes: int, decoder: Decoder) -> Columns:
    """The lines in the first ``whole_bytes`` of a file, to the last or to the first bad one.

    OSError where it cannot be read. The last byte must be a line end.
    """
    with path.open("rb", buffering=0) as file:
        bounds = _bounds(file.fileno(), whole_bytes)
        processes = max(1, min(os.cpu_count() or 1, whole_bytes // _PROCESS_BYTES, _PROCESSES_AT_MOST))
        with contextlib.ExitStack() as stack:
            queue = stack.enter_context(_queue(len(bounds)))
            helpers = []
            for _ in range(processes - 1):
                with contextlib.suppress(OSError):  # where none can be started, this one reads alone
                    output = stack.enter_context(tempfile.TemporaryFile())
                    helper = stack.enter_context(_start(path, bounds, decoder, queue, output))
                    stack.callback(helper.kill)
                    helpers.append((helper, output))
            pieces = dict(_take(file.fileno(), bounds, decoder, queue))
            for helper, output in helpers:
                pieces |= _finish(helper, output, decoder)
        for number, (start, end) in enumerate(bounds):
            if number not in pieces:  # a helper was killed that had it
                pieces[number] = _piece(file.fileno(), start, end, decoder)
    parts = [pieces[number] for number in range(len(bounds))]
    bad = next((number for number, part in enumerate(parts) if part.problem), len(parts))
    return joined(parts[: bad + 1])


def _bounds(descriptor: int, whole_bytes: int) -> list[tuple[int, int]]:
    """Where pieces of about equal size start and end; each starts and ends with a line."""
    step = max(_PIECE_BYTES, -(-whole_bytes // _PIECES_AT_MOST))
    starts = [0]
    while starts[-1] + step < whole_bytes:
        position = starts[-1] + step - 1
        while (found := (block := _pread(descriptor, 8192, position)).find(b"\n")) < 0:
            position += len(block)
        starts.append(position + found + 1)
    return [(start, end) for start, end in zip(starts, [*starts[1:], whole_bytes], strict=True) if start < end]


@contextlib.contextmanager
def _queue(count: int) -> Iterator[int]:
    """The reading end of a pipe that holds the numbers of all pieces, one byte each: who reads one, has it."""
    reading, writing = os.pipe()
    try:
        os.write(writing, bytes(range(count)))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)


def _take(
    descriptor: int, bounds: list[tuple[int, int]], decoder: Decoder, queue: int
) -> Iterator[tuple[int, Columns]]:
    # Once a block of this size was freed, glibc keeps up to twice that for the next bunch. Otherwise the kernel has to
    # give, and clear, the same memory for every bunch anew, which takes longer than reading the file.
    bytearray(_KEPT_BYTES)
    while taken := os.read(queue, 1):
        yield taken[0], _piece(descriptor, *bounds[taken[0]], decoder)


def _piece(descriptor: int, start: int, end: int, decoder: Decoder) -> Columns:
    """The lines from byte ``start`` to ``end``, or to the first bad one."""
    parts: list[Columns] = []
    size = _BUNCH_BYTES
    while start < end:
        block = _pread(descriptor, min(size, end - start), start)
        if not (length := block.rfind(b"\n") + 1):
            size *= 2  # for one long line
            continue
        parts.append(decoder.of_lines(block[:length], start))
        if parts[-1].problem:
            break
        start, size = start + length, _BUNCH_BYTES
    return joined(parts)


def _pread(descriptor: int, size: int, position: int) -> bytes:
    if not (block := os.pread(descriptor, size, position)):
        raise OSError(errno.EIO, "it became shorter meanwhile")
    return block


def _start(
    path: Path, bounds: list[tuple[int, int]], decoder: Decoder, queue: int, output: BinaryIO
) -> subprocess.Popen[bytes]:
    """A process that takes pieces too, and writes the columns of each as soon as it has them."""
    asked = json.dumps([str(path), bounds, decoder.schema])
    here = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", "from lab.results.reading import help_reading; help_reading()", asked]
    return subprocess.Popen(command, stdin=queue, stdout=output, env=here)


def help_reading() -> None:
    """What such a process does: its standard input is the queue."""
    name, bounds, schema = json.loads(sys.argv[1])
    decoder = Decoder(schema)
    with Path(name).open("rb", buffering=0) as file:
        for piece in _take(file.fileno(), bounds, decoder, sys.stdin.fileno()):
            pickle.dump(piece, sys.stdout.buffer, protocol=5)
    pickle.dump(list(decoder.combinations), sys.stdout.buffer, protocol=5)


def _finish(helper: subprocess.Popen[bytes], output: BinaryIO, decoder: Decoder) -> dict[int, Columns]:
    """What a helper read, in the levels of ``decoder``; nothing where it failed."""
    if helper.wait():
        return {}
    size_bytes = output.seek(0, os.SEEK_END)
    output.seek(0)
    written = []
    while output.tell() < size_bytes:
        written.append(pickle.load(output))  # of a process of our own
    *taken, combinations = written
    pieces = dict(taken)
    decoder.adopt(pieces.values(), combinations)
    return pieces
