"""Seconds, memory and bytes of a dataset by its number of trials: ``python benchmarks/dataset.py --help``. Asserts
nothing.

The trials are SYNTHETIC: invented numbers, in the columns of `lab dataset add` but what hosts counted. Runs of a
million trials are written as files of a dataset at once: as JSON lines, 10^8 would be 140 GB.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from loading import CASES, trials

from lab import stats
from lab.dataset.engine import started
from lab.dataset.folder import Dataset
from lab.dataset.parquet_file import MOST_ROWS
from lab.dataset.pooled import Pooled
from lab.dataset.register import Entry, StoredFile, StoredRun
from lab.dataset.tables import Numbers, Rows, trials_table, write
from lab.results import Trial, frame
from lab.stats.factors import factors_of

SWEEP = "invented"
BLOCKS = MOST_ROWS // len(CASES)  # of a run


def invent(folder: Path, count: int) -> None:
    """Write about so many trials as a dataset."""
    dataset, rng = Dataset.at(folder), np.random.default_rng(7)
    begun = frame([Trial.from_json(one) for one in trials(len(CASES))], {"id": "invented"})
    factors = factors_of(begun.columns)
    cells = stats.encode(begun).cells(factors, np.ones(len(begun), dtype=bool))
    levels = [{name: cells.levels[name][code] for name, code in zip(factors, row, strict=True)} for row in cells.codes]
    numbers = np.array(dataset.register.number_cases(levels), np.int32)[cells.cell]
    usual, written = _usual(begun, numbers, min(BLOCKS, max(1, count // len(CASES)))), 0
    while written < count:
        first, blocks = dataset.register.blocks[SWEEP], min(BLOCKS, max(1, (count - written) // len(CASES)))
        if blocks * len(CASES) < usual.num_rows:
            usual = _usual(begun, numbers, blocks)
        table = _run(usual, first, blocks, rng)
        file = StoredFile(
            table="trials", sweep=SWEEP, path=f"trials/sweep={SWEEP}/run={first}.parquet", rows=table.num_rows,
            size_bytes=0, first_block=first, blocks=blocks,
        )  # fmt: skip
        file = dataset.store(file, partial(write, table))
        run = StoredRun(
            run_id=str(first), sweep=SWEEP, sha256="", trials=table.num_rows, blocks=blocks, where="SYNTHETIC"
        )
        dataset.register.enter(Entry(run, (file,)))
        written += table.num_rows


def _usual(begun: pd.DataFrame, numbers: Numbers, blocks: int) -> pa.Table:
    """Every case once a block, sorted by case and block, all at the speeds of the first."""
    case = np.argsort(numbers, kind="stable").repeat(blocks)
    block = np.tile(np.arange(blocks), len(numbers))
    rows = begun.iloc[case].reset_index(drop=True)
    rows["block"], rows["trial_id"] = block + 1, pd.Series(block, dtype="str") + "-" + rows["trial_id"].astype("str")
    rows["started_at"] += pd.to_timedelta(600 * block, unit="s")
    facts = {"run_id": "invented", "run_name": SWEEP, "client_cores": 2, "server_cores": 2}
    return trials_table(Rows(rows, numbers[case], block.astype(np.int32)), facts)


def _run(usual: pa.Table, first: int, blocks: int, rng: np.random.Generator) -> pa.Table:
    """One run: the block and each trial have their noise, and one trial in a thousand failed."""
    count = usual.num_rows
    block = np.tile(np.arange(blocks, dtype=np.int32), count // blocks)
    noise = rng.normal(0, 0.02, count) + rng.normal(0, 0.01, blocks)[block]
    failed = rng.random(count) < 1e-3
    elapsed_s = np.round((5 + 0.1 * (np.arange(count) // blocks % 7)) * np.exp(noise), 9)
    changed = {
        "run_id": pa.repeat(str(first), count),
        "block_number": first + block,
        "elapsed_s": pa.array(elapsed_s, mask=failed),
        "status": pa.array(["ok", "failed"]).take(pa.array(failed.astype(np.int8))),
        "wire_tx_bytes": 2**29 + rng.integers(0, 10**7, count),
        "ceiling_bytes_per_s": np.round(118e6 * np.exp(rng.normal(0, 1e-3, blocks)))[block],
        **{f"{side}_cpu_s": np.round(rng.uniform(1, 2, count), 6) for side in ("client", "server")},
    }
    for name, values in changed.items():
        usual = usual.set_column(usual.column_names.index(name), name, pa.array(values))
    return usual


def measure(folder: Path) -> None:
    """Print what each table takes, in this process, and its peak of resident memory."""
    begun, cpu_begun = time.perf_counter(), time.process_time()
    with started() as engine:
        sweep = Pooled(engine, Dataset(folder), SWEEP)
        tables: dict[str, Callable[[], pd.DataFrame]] = {
            "medians and intervals": lambda: sweep.summary,
            "effects": lambda: sweep.effects,
            "ceilings": lambda: sweep.ceilings,
            "shares": lambda: sweep.shares.table,
            "some of each case": lambda: sweep.some,
        }
        for name, make in tables.items():
            before, cpu_before = time.perf_counter(), time.process_time()
            rows = len(make())
            say_taken(f"{name}, {rows} rows", before, cpu_before)
    say_taken("all", begun, cpu_begun)


def say_taken(what: str, begun: float, cpu_begun: float) -> None:
    """Print the seconds since then, those of CPU of all threads, and the peak of memory."""
    taken = f"{time.perf_counter() - begun:8.2f} s {time.process_time() - cpu_begun:8.2f} s CPU"
    print(f"{taken}  {what}; at most {peak_bytes() / 1e6:,.0f} MB of memory", flush=True)


def peak_bytes() -> int:
    """Peak of resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Invent datasets into a temporary folder and measure each, both in a process of its own."""
    parser = argparse.ArgumentParser(description="Seconds, memory and bytes of a dataset by its number of trials.")
    parser.add_argument("trials", type=int, nargs="*", default=[10**6, 10**7, 10**8])
    parser.add_argument("--invent", type=Path, metavar="DIR", help="write so many trials there, and end")
    parser.add_argument("--measure", type=Path, metavar="DIR", help="measure this dataset instead")
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.measure)
        return
    if asked.invent:
        invent(asked.invent, asked.trials[0])
        return
    for count in asked.trials:
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            subprocess.run([sys.executable, __file__, str(count), "--invent", folder], check=True)
            files = Dataset(Path(folder)).register.files
            written, size_bytes = sum(file.rows for file in files), sum(file.size_bytes for file in files)
            taken_s = time.perf_counter() - begun
            each = f"{size_bytes / written:.1f} bytes each"
            print(f"{written:,} trials, {size_bytes / 1e6:,.0f} MB, {each}, written in {taken_s:.0f} s", flush=True)
            subprocess.run([sys.executable, __file__, "--measure", folder], check=True)


if __name__ == "__main__":
    main()
