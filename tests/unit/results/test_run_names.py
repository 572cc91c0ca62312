"""Which run a person means by a path or a short name."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.errors import BadInput
from lab.results.run_names import find_run, newest, paths_of_runs, sweep_of

RUNS = (
    "20300101T000000Z-demo", "20300102T000000Z-demo", "20300102T000000Z-macs", "20300103T000000Z-demo-2",
    "from-elsewhere",
)  # fmt: skip


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in RUNS:
        make_run(Path("results") / name)
    return Path("results")


def make_run(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "run.json").write_text("not even JSON: no content is looked at")


@pytest.mark.parametrize(("name", "run"), [
    ("demo", "20300102T000000Z-demo"),
    ("macs", "20300102T000000Z-macs"),
    ("demo-2", "20300103T000000Z-demo-2"),
    ("20300101T000000Z-demo", "20300101T000000Z-demo"),
    ("20300103", "20300103T000000Z-demo-2"),
    ("from", "from-elsewhere"),
    ("from-elsewhere", "from-elsewhere"),
    ("-1", "from-elsewhere"),
    ("-2", "20300103T000000Z-demo-2"),
    ("-5", "20300101T000000Z-demo"),
])  # fmt: skip
def test_a_short_name_stands_for_a_run_of_the_results(results: Path, name: str, run: str) -> None:
    assert find_run(name, results) == results / run


def test_a_whole_name_counts_where_others_begin_so_and_names_its_sweep_after_the_time(results: Path) -> None:
    make_run(results / "20300101T000000Z-demo-again")
    assert find_run("20300101T000000Z-demo", results).name == "20300101T000000Z-demo"
    assert [sweep_of(Path("results") / name) for name in RUNS] == ["demo", "demo", "macs", "demo-2", "from-elsewhere"]


@pytest.mark.parametrize("file", ["run.json", "journal.jsonl"])
def test_a_path_is_taken_as_it_is(results: Path, file: str) -> None:
    for path in ("somewhere/else", "/nowhere/at/all", "./demo", "results/20300101T000000Z-demo"):
        assert find_run(path, results) == Path(path)
    Path("demo").mkdir()
    assert find_run("demo", results) == results / "20300102T000000Z-demo"  # the folder is no run, and hides none
    Path("demo", file).touch()
    assert find_run("demo", results) == Path("demo")


@pytest.mark.parametrize(("name", "message"), [
    ("dmeo", "dmeo: not a run folder, and no run of results is called so: did you mean 'demo'?"),
    ("fast", "fast: not a run folder, and no run of results is called so: `lab list` names the runs"),
    ("", ": not a run folder, and no run of results is called so: `lab list` names the runs"),
    ("2030", "2030: the names of 4 runs of results begin so: 20300103T000000Z-demo-2, 20300102T000000Z-macs, "
     "20300102T000000Z-demo and 1 more: give more of the name"),
    ("-6", "-6: results holds 5 runs: `lab list` names the runs; -1 is the newest"),
    ("-0", "-0: results holds 5 runs: `lab list` names the runs; -1 is the newest"),
])  # fmt: skip
def test_a_name_of_none_or_of_several_is_bad_input_that_says_so(results: Path, name: str, message: str) -> None:
    with pytest.raises(BadInput) as raised:
        find_run(name, results)
    assert str(raised.value) == message


def test_without_results_there_is_no_run_and_one_that_measured_nothing_says_why(tmp_path: Path) -> None:
    for name, message in (("-1", "holds 0 runs"), ("demo", "is called so")):
        with pytest.raises(BadInput, match=message):
            find_run(name, tmp_path / "nothing")
    for path in (tmp_path, tmp_path / "not/there"):
        with pytest.raises(BadInput, match="holds no run"):
            newest(path)
    write_run_json(tmp_path / "20300101T000000Z-a", None)
    with pytest.raises(BadInput, match=r"-a: holds no trial: failed: client: no iperf3: `lab run --resume .*-a` goes"):
        newest(tmp_path)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_words_are_a_path_a_run_or_bad_input(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    results = tmp_path_factory.getbasetemp() / "some-results"
    if not results.exists():
        make_run(results / "20300101T000000Z-demo")
    try:
        path = find_run(name, results)
    except BadInput:
        return
    assert path in (Path(name), results / "20300101T000000Z-demo")


@pytest.mark.parametrize("trials", ['{"protocol": "smb"}\n', "not JSON\n"])
def test_newest_is_the_last_by_name_among_run_folders_that_hold_a_transfer(tmp_path: Path, trials: str) -> None:
    write_run_json(tmp_path / "20300101T000000Z-a", trials)
    write_run_json(tmp_path / "20300102T000000Z-b", '{"protocol": "link"}\n' + trials)
    (tmp_path / "20300103T000000Z-no-run-json").mkdir()
    write_run_json(tmp_path / "20300104T000000Z-no-trials", None)
    write_run_json(tmp_path / "20300105T000000Z-ceilings", '{"protocol": "link"}\n{"protocol": "store"}\n')
    write_run_json(tmp_path / "20300106T000000Z-torn", '{"protocol": "smb", "siz')
    assert newest(tmp_path).path.name == "20300102T000000Z-b"


def write_run_json(path: Path, trials: str | None) -> None:
    path.mkdir()
    (path / "run.json").write_text('{"schema": 1, "ended": "failed: client: no iperf3"}')
    if trials is not None:
        (path / "trials.jsonl").write_text(trials)


def test_runs_are_listed_newest_first_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    write_run_json(tmp_path / "elsewhere", None)
    (tmp_path / "results" / "20300103T000000Z-linked").symlink_to(tmp_path / "elsewhere")
    for name in ("20300101T000000Z-a", "20300102T000000Z-b"):
        write_run_json(tmp_path / "results" / name, None)
    assert [path.name for path in paths_of_runs(tmp_path / "results")] == ["20300102T000000Z-b", "20300101T000000Z-a"]
