"""SYNTHETIC runs for datasets, and the frame of all their trials, with which a dataset is compared."""

import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from lab.dataset.add import add
from lab.dataset.engine import Engine, started
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, owner_of
from lab.results.observed import Bonnie, BonnieTest, FrameFacts, Observed, Requests, RequestsOneWay
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial
from lab.stats.factors import factors_of
from support.synthetic_runs import trial, write_run

SIZE = 2**29


@dataclass(frozen=True)
class Shape:
    """The shape of an invented run: blocks, levels, and the shares of lost and missing trials."""

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
    shots: int = 0  # ceilings in a block for each direction and MTU; 0: a single one
    half: bool = False  # only half of the grid: no two cases differ in one factor


def invented_trials(shape: Shape) -> list[Trial]:
    """The trials of a run, with those of the link."""
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
    """The ceilings of a block; shapes that lose trials also lose ceilings."""
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
    return [write_run(folder, invented_trials(shape), id=f"run-{n}", **run) for n, shape in enumerate(shapes)]


def dataset_of(folder: Path, runs: Sequence[RunFolder]) -> Dataset:
    dataset = Dataset.at(folder)
    with dataset.claimed():
        for run in runs:
            assert add(dataset, run)
    return dataset


def pooled_frame(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The frames of several runs as one: blocks are renumbered, and missing options filled in."""
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
    cases = whole.groupby(list(factors_of(whole.columns)), sort=False)  # whichever options a run names
    return whole.assign(case_id=cases.ngroup().astype(str))


def count_rows(engine: Engine, dataset: Dataset) -> int:
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    return len(sweep.summary) + len(sweep.effects)


def parquet_files(dataset: Dataset) -> list[Path]:
    return sorted(dataset.path.rglob("*.parquet"))


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rewrite(path: Path, table: pa.Table, **about: str) -> None:
    """Replace the table of a Parquet file; keep its metadata except ``about``."""
    changed = {key.encode(): value.encode() for key, value in about.items()}
    metadata = {**(parquet.read_schema(path).metadata or {}), **changed}
    parquet.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def note_size(dataset: Dataset, path: Path) -> None:
    """Let the register state the size of a forged file."""
    _note(dataset, path, size_bytes=path.stat().st_size)


def note_file(dataset: Dataset, path: Path, rows: int | None = None) -> None:
    """Let the register state the size and rows of a forged file, and the trials of its run."""
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


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``results`` and ``dataset``; tests copy it."""
    folder = tmp_path_factory.mktemp("made")
    runs = write_runs(folder / "results", [Shape(seed=1, lost=0.1), Shape(seed=2, option="smb.signing")])
    dataset_of(folder / "dataset", runs)
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> list[RunFolder]:
    copy = shutil.copytree(made / "results", tmp_path / "results")
    return [RunFolder(path) for path in sorted(copy.iterdir())]


@pytest.fixture
def dataset(made: Path, tmp_path: Path, runs: list[RunFolder]) -> Dataset:
    return Dataset(shutil.copytree(made / "dataset", tmp_path / "dataset"))


@pytest.fixture
def another(tmp_path: Path) -> RunFolder:
    """A run that is not in the dataset."""
    [run] = write_runs(tmp_path / "more", [Shape(seed=3, blocks=1)])
    (run.path / "run.json").write_text(json.dumps({**run.run, "id": "run-2"}))
    return RunFolder(run.path)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with started() as engine_of_tests:
        yield engine_of_tests


MB = 10**6


def tool_trials(seed: int, blocks: int, *, counted: bool = True, lost: float = 0.0, pool: bool = True) -> list[Trial]:
    """SYNTHETIC trials of every tool, once a block: trees, several clients, requests, frames, stores, ceilings.

    Without ``counted`` no trial has observations; without ``pool`` no store has options.
    """
    rng = np.random.default_rng(seed)
    made: list[Trial] = []
    for block in range(1, blocks + 1):
        for number, (changes, observed) in enumerate([*_moved(rng, pool), *_by_itself(rng, pool)]):
            status = str(rng.choice(["void", "failed"])) if rng.random() < lost else "ok"
            options = changes.get("options", {})
            case = "-".join(map(str, (*(changes[name] for name in ("protocol", "tool", "direction")),
                                      changes.get("store"), *options.values())))  # fmt: skip
            usual: dict[str, Any] = {
                "trial_id": f"b{block:03d}-{number:04d}", "case_id": case, "block": block, "position": number,
                "elapsed_s": float(rng.uniform(1, 2)), "size_bytes": 100 * MB, "store": "ram", "status": status,
            }  # fmt: skip
            made.append(trial(**usual | changes, observed=observed if counted else {}))
    return made


Invented = Iterator[tuple[dict[str, Any], dict[str, Any]]]


def _moved(rng: np.random.Generator, pool: bool) -> Invented:
    for protocol in ("smb", "ssh"):
        tree = {"protocol": protocol, "tool": "rsync", "direction": "write", "files": 500, "workload": "tree mail"}
        yield tree, {"tcp": {"data_segs_in": int(rng.integers(2000, 9000))}} if rng.random() < 0.8 else {}
    for direction in ("write", "read"):
        copy = {"protocol": "smb", "tool": "cp", "direction": direction, "workload": "file"}
        yield copy, {"flush_s": float(rng.uniform(0, 0.5))} if direction == "write" else {}
        several = Observed.from_json({"together": {
            "clients": [{"name": "client", "ended_s": 1.0}], "skew_s": 0.01, "all_active_s": float(rng.uniform(1, 2)),
            "all_active_bytes": int(rng.integers(10**8, 10**9)), "tail_s": 0.1, "slowest_bytes_per_s": 10**7,
            "median_bytes_per_s": 2 * 10**7, "fastest_bytes_per_s": 3 * 10**7, "jain": float(rng.uniform(0.5, 1)),
        }})  # fmt: skip
        yield {**copy, "options": {"clients": "3"}}, several.to_json()
        fio = Requests(read=_way(rng), write=_way(rng) if rng.random() < 0.5 else None)
        yield {**copy, "tool": "fio"}, Observed(requests=fio).to_json()
        for option in _of_pools(pool):
            room = {"store_capacity_bytes": 2 * 10**9, "store_read_bytes": int(rng.integers(0, 10**8))}
            made = {**copy, "store": "zfs", "options": option}
            yield made, room | {"store_written_bytes": int(rng.integers(10**8, 2 * 10**8))}
    facts = FrameFacts(streams=3, frames=100, late=int(rng.integers(9)), worst_late_s=0.1, most_streams=7)
    yield {"protocol": "smb", "tool": "frames", "direction": "read"}, Observed(frames=facts).to_json()


def _by_itself(rng: np.random.Generator, pool: bool) -> Invented:
    """The link, and the stores ram and zfs, at position 0; three shots are trials of the sweep itself."""
    link = {"protocol": "link", "tool": "iperf3", "direction": "write", "workload": "stream", "position": 0}
    yield {**link, "ceiling_bytes_per_s": None}, {}
    for _ in range(3):
        yield {"protocol": "local", "tool": "dd", "direction": "write", "position": 99}, {}
    for option in ({}, *_of_pools(pool)):
        base = {"protocol": "store", "store": "zfs" if option else "ram", "options": option,
                "ceiling_bytes_per_s": None, "position": 0}  # fmt: skip
        for direction, count in (("write", "disk_written_bytes"), ("read", "disk_read_bytes")):
            of_dd = {**base, "tool": "dd", "direction": direction}
            yield of_dd, {"server": {count: int(rng.integers(10**7, 2 * 10**8))}}
            yield {**of_dd, "tool": "memory"}, {}
        yield {**base, "tool": "fio", "direction": "read"}, Observed(requests=Requests(read=_way(rng))).to_json()
        done = {"write_block": BonnieTest(bytes_per_s=int(rng.integers(10**6, 10**7)), cpu=0.4, longest_ms=3.0)}
        done["seeks"] = (
            BonnieTest(too_short=True) if rng.random() < 0.3 else BonnieTest(per_s=float(rng.uniform(9, 99)))
        )
        bonnie = Observed(bonnie=Bonnie(cached=bool(rng.random() < 0.5), **done))  # type: ignore[arg-type]
        yield {**base, "tool": "bonnie++", "direction": "write"}, bonnie.to_json()


def _of_pools(pool: bool) -> list[dict[str, str]]:
    return [{"zfs.ashift": "9"}, {"zfs.ashift": "12"}] if pool else []


def _way(rng: np.random.Generator) -> RequestsOneWay:
    iops = float(rng.uniform(100, 1000))
    return RequestsOneWay(
        requests=1000, bytes=4_096_000, runtime_s=1000 / iops, iops=iops, bytes_per_s=round(4096 * iops), p50_ms=0.4,
        p95_ms=0.9, p99_ms=1.5, p999_ms=7.25, longest_ms=float(rng.uniform(8, 20)),
    )  # fmt: skip
