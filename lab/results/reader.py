"""Reading trials.jsonl as columns. Where it is large, a second process reads with this one.

The file is cut into shares, whose numbers stand in a pipe: whoever is free takes the next. So both are done at the same
time, however long the second one takes to start, and whatever else keeps the machine busy.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import itertools
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from lab.base.own_python import PYTHON
from lab.base.untrusted import LONG_LINE, MOST_LINE_BYTES, open_file
from lab.results.columns import Columns, join
from lab.results.decoder import Decoder

_BUNCH_BYTES = 512 << 10  # decoded at once: small enough for the caches of a processor
_KEPT_BYTES = 24 << 20  # of memory, from bunch to bunch
_LARGE_BYTES = 256 << 20  # below this the start of a second process takes longer than it saves
_SHARE_BYTES = 16 << 20  # read in some 60 ms: as long as one process may have to wait for the other in the end
_MOST_SHARES = 4096  # their numbers fit into a pipe
_NUMBER_BYTES = 4  # of each there


@dataclass(frozen=True)
class _Shares:
    """The first ``end`` bytes of a file in shares of ``share_bytes``; a line is of the share that it begins in."""

    path: Path
    end: int
    share_bytes: int

    def numbers(self) -> range:
        """The number of each."""
        return range(-(-self.end // self.share_bytes))

    def read(self, descriptor: int, number: int, decoder: Decoder) -> list[Columns]:
        """One of them as columns, up to the first bad line, which the last has. OSError where it cannot be read."""
        stop = min((number + 1) * self.share_bytes, self.end)
        start = _line_start(descriptor, number * self.share_bytes, self.end)
        return list(_read_bunches(descriptor, start, stop, self.end, decoder))

    def read_waiting(
        self, descriptor: int, waiting: IO[bytes], decoder: Decoder
    ) -> Iterator[tuple[int, list[Columns]]]:
        """Those that nobody has taken yet, with their numbers. OSError where one cannot be read."""
        while taken := waiting.read(_NUMBER_BYTES):
            number = int.from_bytes(taken)
            yield number, (parts := self.read(descriptor, number, decoder))
            if any(columns.problem for columns in parts):
                while waiting.read(_NUMBER_BYTES):  # what comes after it does not matter
                    pass


def read_columns(path: Path, end: int, decoder: Decoder) -> Columns:
    """The lines in the first ``end`` bytes of a file, up to the first bad one. OSError where it cannot be read."""
    shares, by_number = _Shares(path, end, end), {}
    with open_file(path) as file, _no_garbage_collection():
        if end >= _LARGE_BYTES and (os.cpu_count() or 1) > 1:
            shares = _Shares(path, end, max(_SHARE_BYTES, -(-end // _MOST_SHARES)))
            by_number = _read_with_second(shares, file.fileno(), decoder)
        parts = [decoder.of_trials([])]
        for number in shares.numbers():
            parts += by_number[number] if number in by_number else shares.read(file.fileno(), number, decoder)
            if parts[-1].problem:
                break
    return join(parts)


def _read_with_second(shares: _Shares, descriptor: int, decoder: Decoder) -> dict[int, list[Columns]]:
    """What this process and a second one have read; what is missing comes after a bad line, or could not be read."""
    reading, writing = os.pipe()
    os.write(writing, b"".join(number.to_bytes(_NUMBER_BYTES) for number in shares.numbers()))
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as waiting, tempfile.TemporaryFile() as output:
        second = _start_second(shares, decoder.schema, waiting, output)
        by_number: dict[int, list[Columns]] = {}
        try:
            with contextlib.suppress(OSError):  # said again, in its turn: a line before may be bad
                by_number.update(shares.read_waiting(descriptor, waiting, decoder))
            if second and len(by_number) < len(shares.numbers()):
                by_number |= _result_of(second, output, decoder)
        finally:
            if second:
                second.kill()
                second.wait()
    return by_number


def _line_start(descriptor: int, position: int, end: int) -> int:
    """Where the first line at or after ``position`` starts, or the end. OSError for a line that is too long."""
    if position == 0:
        return 0
    for start in range(position - 1, min(position + MOST_LINE_BYTES, end), _BUNCH_BYTES):
        block = _read_block(descriptor, start, min(start + _BUNCH_BYTES, end))
        if (line_end := block.find(b"\n")) >= 0:
            return start + line_end + 1
    raise _too_long()


def _too_long() -> OSError:
    return OSError(errno.EFBIG, LONG_LINE)


def _read_bunches(descriptor: int, start: int, stop: int, end: int, decoder: Decoder) -> Iterator[Columns]:
    """The columns of the lines that begin from byte ``start`` to byte ``stop``, a bunch at a time, as far as they are
    good; the last is whole by byte ``end``. A bad line is in the last bunch.
    """
    # After a block of this size was freed, glibc keeps as much for the next bunch; else the kernel clears it anew
    bytearray(_KEPT_BYTES)
    size = _BUNCH_BYTES
    while start < stop:
        block = _read_block(descriptor, start, min(start + size, end))
        last = block.find(b"\n", stop - 1 - start) if start + len(block) >= stop else -1
        length = (last if last >= 0 else block.rfind(b"\n")) + 1
        if not length and len(block) > MOST_LINE_BYTES:
            raise _too_long()
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


def _start_second(
    shares: _Shares, schema: int, waiting: IO[bytes], output: IO[bytes]
) -> subprocess.Popen[bytes] | None:
    """A process that reads shares too; None where none can be started."""
    command = [*PYTHON, "-c", f"from {__name__} import main; main()"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        return subprocess.Popen(  # noqa: S603 – this Python, with a path and numbers
            [*command, *map(str, (shares.path, shares.end, shares.share_bytes, schema))],
            stdin=waiting, stdout=output, env=environment,
        )  # fmt: skip
    except OSError:
        return None


def _result_of(second: subprocess.Popen[bytes], output: IO[bytes], decoder: Decoder) -> dict[int, list[Columns]]:
    """What the second process read, in the levels of ``decoder``; nothing where it failed."""
    if second.wait():
        return {}
    size_bytes = output.seek(0, os.SEEK_END)
    output.seek(0)
    written = []
    while output.tell() < size_bytes:
        written.append(pickle.load(output))  # noqa: S301 – of a process of our own, in a file without a name
    *read, combinations = written
    numbers = np.array([decoder.combinations[texts] for texts in combinations], np.int32)
    by_number: dict[int, list[Columns]] = dict(read)
    for part in itertools.chain.from_iterable(by_number.values()):
        part.combinations = numbers[part.combinations]
    return by_number


def main() -> None:
    """Read shares that wait in standard input, and write them to standard output, for :func:`read_columns`.

    Where one cannot be read, end with exit code 1: the first process reads it itself then, and says why.
    """
    name, *numbers = sys.argv[1:]
    end, share_bytes, schema = map(int, numbers)
    decoder = Decoder(schema)
    try:
        with open_file(Path(name)) as file, _no_garbage_collection(), os.fdopen(0, "rb", buffering=0) as waiting:
            for read in _Shares(Path(name), end, share_bytes).read_waiting(file.fileno(), waiting, decoder):
                pickle.dump(read, sys.stdout.buffer, protocol=5)
    except OSError:
        sys.exit(1)
    pickle.dump(list(decoder.combinations), sys.stdout.buffer, protocol=5)
