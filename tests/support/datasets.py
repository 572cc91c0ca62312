"""SYNTHETIC runs for datasets, and the frame that all of them together are: what a dataset is compared with."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from lab.dataset.add import add
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, owner_of
from lab.results.run_folder import RunFolder, Trial
from lab.stats.factors import factors_of
from support.synthetic_runs import trial, write_run

SIZE = 2**29


@dataclass(frozen=True)
class Shape:
    """What an invented run is: its blocks and levels, and which share of its trials is lost, or missing altogether."""

    seed: int
    blocks: int = 3
    protocols: tuple[str, ...] = ("afp", "smb")
    tools: tuple[str, ...] = ("cp",)
    mtus: tuple[int, ...] = (1500, 9000)
    spaces: tuple[int | str, ...] = ("default",)
    option: str = ""  # of smb
    lost: float = 0.0
    missing: float = 0.0
    again: float = 0.0  # measured once more in its block, or as an anchor
    shots: int = 0  # of the link, each way at each MTU in a block; 0: one, at one setting
    half: bool = False  # only half of the grid: no two cases differ in one factor


def invented_trials(shape: Shape) -> list[Trial]:
    """The trials of a run, those of the link among them."""
    rng = np.random.default_rng(shape.seed)
    places = list(itertools.product(
        range(len(shape.protocols)), range(len(shape.tools)), range(2), range(len(shape.mtus)), range(len(shape.spaces))
    ))  # fmt: skip
    kept = [place for place in places if not (shape.half and sum(place) % 2) and rng.random() >= shape.missing]
    made: list[Trial] = []
    for block in range(1, shape.blocks + 1):
        made += _links(rng, block, shape)
        for protocol, tool, way, mtu, space in kept:
            levels: list[dict[str, str]] = [{}]
            if shape.option and shape.protocols[protocol] == "smb":
                levels = [{shape.option: DEFAULT}, {shape.option: "off"}]
            for options in levels:
                if rng.random() < shape.missing / 2:
                    continue
                status = rng.choice(["void", "failed"]) if rng.random() < shape.lost else "ok"
                case = (
                    shape.protocols[protocol], shape.tools[tool], ("write", "read")[way], shape.mtus[mtu],
                    shape.spaces[space], options,
                )  # fmt: skip
                made.append(_trial(rng, block, len(made), *case, str(status)))
                if rng.random() < shape.again:
                    made.append(_trial(rng, block, len(made), *case, "ok", anchor=bool(rng.random() < 0.5)))
    return made


def _links(rng: np.random.Generator, block: int, shape: Shape) -> list[Trial]:
    """The ceilings of a block; some of a shape that loses trials are lost."""
    settings = list(itertools.product(("write", "read"), shape.mtus)) * shape.shots or [("write", 1500)]
    statuses = rng.choice(["ok", "void", "failed"], len(settings), p=(1 - shape.lost, shape.lost / 2, shape.lost / 2))
    return [
        _trial(rng, block, number, "link", "iperf3", way, mtu, "default", {}, str(status) if shape.shots else "ok")
        for number, ((way, mtu), status) in enumerate(zip(settings, statuses, strict=True))
    ]


def _trial(
    rng: np.random.Generator, block: int, number: int, protocol: str, tool: str, way: str, mtu: int, space: int | str,
    options: dict[str, str], status: str, **more: Any,
) -> Trial:  # fmt: skip
    usual = 5.0 + 0.3 * (mtu == 9000) + 0.2 * (protocol == "smb") + 0.1 * block
    elapsed_s = None if status == "failed" else float(usual * np.exp(rng.normal(0, 0.03)))
    return trial(
        trial_id=f"b{block}-{number}", case_id="-".join(map(str, (protocol, tool, way, mtu, space, *options.values()))),
        block=block, position=number, protocol=protocol, tool=tool, direction=way, mtu=mtu, tcp_space=space,
        options=options, size_bytes=SIZE, elapsed_s=elapsed_s, status=status, verified=status == "ok",
        ceiling_bytes_per_s=None if protocol == "link" else float(rng.choice([118e6, 117e6])),
        observed={} if protocol == "link" else {"client": {"cores": 2, "cpu_cores": float(rng.random())}}, **more,
    )  # fmt: skip


def write_runs(folder: Path, shapes: Sequence[Shape], **run: Any) -> list[RunFolder]:
    """A run folder of each."""
    return [write_run(folder, invented_trials(shape), id=f"run-{n}", **run) for n, shape in enumerate(shapes)]


def dataset_of(folder: Path, runs: Sequence[RunFolder]) -> Dataset:
    """A new dataset of these runs."""
    dataset = Dataset.at(folder)
    with dataset.claimed():
        for run in runs:
            assert add(dataset, run)
    return dataset


def pooled_frame(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The frames of runs one below the other, as one run: blocks are numbered on, and options filled in."""
    options = sorted({name for frame in frames for name in frame.columns if owner_of(name)})
    parts, first = [], 0
    for frame in frames:
        blocks, block = np.unique(frame["block"].to_numpy(), return_inverse=True)
        lacking = [name for name in options if name not in frame]
        has = {name: (frame[[*CHOOSERS]] == owner_of(name)).any(axis="columns") for name in lacking}
        levels = {name: np.where(has[name], DEFAULT, ABSENT) for name in lacking}
        parts.append(frame.assign(block=block + first, **levels))
        first += len(blocks)
    plain = [name for name in parts[0].columns if not owner_of(name)]
    texts = [part.assign(observed=part["observed"].tolist()) for part in parts]
    whole = pd.concat([part[[*plain, *options]] for part in texts], ignore_index=True)
    whole.attrs = frames[0].attrs
    case = whole.groupby(list(factors_of(whole.columns)), sort=False).ngroup()  # whichever options a run names
    return whole.assign(case_id=case.astype(str))


def count_rows(engine: Engine, dataset: Dataset) -> int:
    """How many rows the tables of its sweep have, of the files as they are now."""
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    return len(sweep.summary) + len(sweep.effects)


def parquet_files(dataset: Dataset) -> list[Path]:
    """Its files of Parquet, by name."""
    return sorted(dataset.path.rglob("*.parquet"))


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rewrite(path: Path, table: pa.Table, **about: str) -> None:
    """Write another table in place of a file, with its metadata but for ``about``."""
    changed = {key.encode(): value.encode() for key, value in about.items()}
    metadata = {**(parquet.read_schema(path).metadata or {}), **changed}
    parquet.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def note_size(dataset: Dataset, path: Path) -> None:
    """Let the register say that a forged file has the bytes that were written."""
    _note(dataset, path, size_bytes=path.stat().st_size)


def note_file(dataset: Dataset, path: Path, rows: int | None = None) -> None:
    """The same of its bytes, its rows, and the trials of the run that it is of, which are those of its footer."""
    rows = parquet.read_metadata(path).num_rows if rows is None else rows
    _note(dataset, path, size_bytes=path.stat().st_size, rows=rows)


def _note(dataset: Dataset, path: Path, **facts: int) -> None:
    register = dataset.path / "register.jsonl"
    lines = [json.loads(line) for line in register.read_text().splitlines()]
    for line in lines:
        for file in line.get("files", ()):
            if dataset.path / file["path"] == path:
                file |= facts
                if file["table"] == "trials":
                    line["run"]["trials"] = file["rows"]
    register.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
