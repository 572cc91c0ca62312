"""File systems of the lab's own that are filled before a trial."""

from pathlib import Path

import pytest
from support.input_files import HOSTS
from support.loop_host import LoopHost
from support.store_lab import GIB, StoreLab

from lab import stores
from lab.base.errors import BadInput, SettingRefused
from lab.base.present import present
from lab.design.plan import USUAL_IMAGE_BYTES, plan
from lab.design.sweep_file import parse_sweep
from lab.hosts.hosts_file import load_hosts
from lab.run.begin.compatibility import check_fit
from lab.run.case.catalogue import CATALOGUE
from lab.stores.store import Room

SWEEP = """
name = "full"
blocks = 6
[workload]
size = "128 MiB"
[factors]
protocol = ["nfs"]
direction = ["write"]
store = ["ext4"]
"""


class Lab(StoreLab):
    """A run that makes ext4 and fills it."""

    host: LoopHost

    def __init__(self, folder: Path, percent: str = "80"):
        super().__init__(LoopHost(folder), present(stores.file_system("ext4")), {"fill": percent})


def test_noise_fills_it_up_to_the_level_and_is_written_out(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    made = lab.make()
    (noise,) = (path for path in (lab.host.own / "store").iterdir())
    assert f" make {noise} {4 * GIB * 80 // 100} {noise.name}\n" in (tmp_path / "calls").read_text()
    assert lab.host.calls("sync") == [f"sync -f {noise}"]
    assert (made.levels["ext4.fill"], made.capacity_bytes) == ("80", 4 * GIB)
    assert made.description.endswith("; filled to 80.0 %")
    lab.settings.unwind()
    assert lab.host.calls("umount")


def test_an_empty_one_says_so(tmp_path: Path) -> None:
    lab = Lab(tmp_path, "0")
    made = lab.make()
    assert made.levels["ext4.fill"] == "0"
    assert not lab.host.calls("perl", "sync")


def test_one_that_does_not_fill_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fill.takes_no_room").touch()
    with pytest.raises(SettingRefused, match="was to be filled to 80 %, and 0 % of it are in use"):
        Lab(tmp_path).make()


def test_what_is_filled_leaves_no_room(tmp_path: Path) -> None:
    assert Room(0.8, 100).left(75).most_in(10_000) == pytest.approx(0.25 * Room(0.8, 100).most_in(10_000), abs=1)
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", "[share]\nserve = lab"))
    for percent in (0, 90):
        check_fit(load_hosts(path), parse_sweep(f"{SWEEP}ext4.fill = [{percent}]", Path("full.toml")))
    with pytest.raises(BadInput, match=r"too few for ext4, ext4.fill 95 with a payload of 134217728 bytes: give"):
        check_fit(load_hosts(path), parse_sweep(f"{SWEEP}ext4.fill = [0, 95]", Path("full.toml")))


@pytest.mark.parametrize(
    ("factors", "fills"),
    [
        ('direction = ["write", "read"]\next4.fill = [50, 90]', 2 * 2 + 2),
        ('direction = ["write"]\next4.fill = [50]\next4.data = ["ordered", "journal"]', 2 + 2),
        ('direction = ["write"]\next4.fill = [0]', 0),
    ],
)
def test_a_store_by_itself_is_filled_once_a_block_for_each_level_of_its_options(factors: str, fills: int) -> None:
    text = SWEEP.replace("blocks = 6", "blocks = 3").replace('direction = ["write"]', factors)
    planned = plan(parse_sweep(text, Path("full.toml")), CATALOGUE)
    assert planned.changes.get("fill", 0) == 3 * fills


def test_a_sweep_of_stores_alone_fills_each_once_a_block_whatever_measures_it(tmp_path: Path) -> None:
    text = SWEEP.replace('protocol = ["nfs"]\ndirection = ["write"]\n', 'protocol = ["local"]\n')
    text = text.replace("blocks = 6", 'blocks = 6\nstore_tools = ["dd", "fio"]')
    planned = plan(parse_sweep(f"{text}ext4.fill = [0, 50, 90]", Path("full.toml")), CATALOGUE)
    assert planned.changes["fill"] == 6 * 2


def test_a_plan_says_how_many_are_filled_and_counts_the_time(tmp_path: Path) -> None:
    empty, full = (
        plan(parse_sweep(f"{SWEEP}ext4.fill = {levels}", Path("full.toml")), CATALOGUE)
        for levels in ("[0, 5]", "[0, 90]")
    )
    assert "fill" not in plan(parse_sweep(SWEEP, Path("full.toml")), CATALOGUE).changes
    # in each block one for the trial, and one where the store is measured by itself
    assert (empty.changes["fill"], full.changes["fill"]) == (12, 12)
    assert full.estimated_s - empty.estimated_s == pytest.approx(12 * 0.85 * 2**31 / 60e6)
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS)
    assert load_hosts(path).share.image_size == USUAL_IMAGE_BYTES
