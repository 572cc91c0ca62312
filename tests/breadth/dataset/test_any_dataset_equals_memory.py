"""Whatever runs are in a dataset, it says what the frame of all of them says."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.datasets import Shape, dataset_of
from support.examples import at_most
from support.pooled_tables import assert_same, pooled_of

from lab.dataset.engine import Engine
from lab.dataset.pooled import Pooled
from lab.results import load, open_run

pytest.importorskip("duckdb")
SHAPES = st.builds(
    Shape,
    seed=st.integers(0, 10**6),
    blocks=st.integers(1, 12),
    protocols=st.sampled_from([("afp", "smb"), ("smb",), ("afp", "nfs", "smb")]),
    tools=st.sampled_from([("cp",), ("cp", "rsync")]),
    mtus=st.sampled_from([(1500, 9000), (1500,)]),
    spaces=st.sampled_from([("default",), ("default", 65536, 4194304)]),
    option=st.sampled_from(["", "smb.signing"]),
    lost=st.sampled_from([0.0, 0.1, 0.9]),
    missing=st.sampled_from([0.0, 0.2]),
    again=st.sampled_from([0.0, 0.2]),
    half=st.booleans(),
)


@given(st.lists(SHAPES, min_size=1, max_size=3))
@at_most(10)
@example([Shape(seed=1, blocks=1)])
@example([Shape(seed=2, lost=0.2), Shape(seed=3, option="smb.signing", lost=0.2), Shape(seed=4, blocks=9)])
@example([Shape(seed=5, blocks=8, tools=("cp", "rsync"), spaces=("default", 65536), half=True)])
@example([Shape(seed=7, blocks=7, shots=2), Shape(seed=8, blocks=3, shots=2, lost=0.3, mtus=(1500,))])
@example([Shape(seed=9, blocks=7, shots=1, lost=0.2), Shape(seed=10, blocks=2)])
@example([Shape(seed=6, blocks=12, again=0.5, missing=0.3, protocols=("afp", "nfs", "smb"))])
def test_every_table_is_that_of_the_frame(engine: Engine, shapes: list[Shape]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_same(*pooled_of(engine, Path(folder), shapes))


def test_the_second_run_that_comes_with_the_lab_says_the_same_too(engine: Engine, tmp_path: Path) -> None:
    folder = open_run("example-delay")
    dataset = dataset_of(tmp_path / "dataset", [folder])
    assert_same(Pooled(engine, dataset, dataset.sweeps[0]), load(folder.path))
