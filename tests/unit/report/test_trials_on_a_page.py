import base64
import csv
import io
import json
import re
from pathlib import Path

import pytest
from support.planted import EVIL, STARTS, assert_no_formula, assert_page_of_the_labs
from support.synthetic_runs import trial, write_run

from lab.report import run_report
from lab.report.analysis import Analysis
from lab.report.page import courses, trial_data
from lab.report.page.courses import MOST_COURSES
from lab.report.page.trial_data import MOST_DATA, MOST_ROWS
from lab.results import dataframe, run_folder
from lab.results.run_folder import RunFolder

SECONDS = [0.0, 0.5, 1.0, 1.5]
COURSE = {
    "client": {
        "at_s": SECONDS, "tx_bytes": [0, 5_000_000, 20_000_000, 20_000_000], "rx_bytes": [0, 1000, 2000, 3000],
        "core_busy": {"0": [None, 0.25, 0.5, 0.125], "1": [None, 0.75, None, 0.0]},
        "connections": [[0.0, "a b", {"retransmits": 2}], [1.5, "a b", {"retransmits": 9}]],
    },
    "server": {"at_s": SECONDS, "core_busy": {"0": [None, 0.1, 0.2, 0.3]}, "connections": []},
}  # fmt: skip


def saved(html: str) -> tuple[list[dict[str, str]], list[dict[str, object]]]:
    """The trials in the files that a page has inside, of CSV and of JSON."""
    files = dict(re.findall(r'<a download="trials\.(csv|json)" href="data:[^,]+;base64,([^"]+)"', html))
    texts = {kind: base64.b64decode(content).decode() for kind, content in files.items()}
    table = json.loads(texts["json"])
    values = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    return list(csv.DictReader(io.StringIO(texts["csv"]))), values


def test_every_trial_can_be_saved_from_the_page(folder: RunFolder) -> None:
    trials = run_folder.load(folder.path)
    rows, values = saved((folder.report_path / "report.html").read_text())
    for name in ("trial_id", "protocol", "tool", "direction", "status"):
        assert [row[name] for row in rows] == [value[name] for value in values] == trials[name].astype(str).tolist()
    speeds = [float(row["MB_per_s"]) if row["MB_per_s"] else None for row in rows]
    assert speeds == [value["MB_per_s"] for value in values]
    assert speeds == [None if speed != speed else pytest.approx(speed, abs=1e-6) for speed in trials["MB_per_s"]]


def test_of_very_many_trials_a_page_has_some_and_says_so() -> None:
    made = [trial(trial_id=f"t{number}", block=number) for number in range(1, MOST_DATA + 1001)]
    html = trial_data.trial_data(Analysis(dataframe.frame(made, {})))
    rows, values = saved(html)
    assert len(rows) == len(values) == MOST_DATA
    assert (rows[0]["trial_id"], rows[-1]["trial_id"]) == ("t1", f"t{MOST_DATA + 1000}")
    assert html.count('<th scope="row">') == MOST_ROWS
    assert f"{MOST_DATA:,} of {MOST_DATA + 1000:,} trials" in html
    assert len(html) < 3_000_000


def test_no_text_of_a_trial_is_a_formula_in_the_saved_table() -> None:
    made = [trial(trial_id=f"t{at}", tool=start + EVIL, reason=start + EVIL) for at, start in enumerate(STARTS)]
    html = trial_data.trial_data(Analysis(dataframe.frame(made, {})))
    content = re.findall(r'href="data:text/csv[^,]+,([^"]+)"', html)[0]
    assert_no_formula(base64.b64decode(content).decode())


@pytest.mark.usefixtures("empty_figures")
def test_the_course_of_a_trial_is_drawn_with_what_it_reached(tmp_path: Path) -> None:
    run = write_run(tmp_path, [trial(trial_id="one"), trial(trial_id="two", status="void")])
    for trial_id in ("one", "two"):
        run.append_samples(trial_id, COURSE)
    html = run_report.write(run).read_text()
    drawn = re.findall(r'<svg class="figure small".*?</svg>', html)
    assert len(drawn) == 2
    assert "AFP cp write, block 1, one: 1.5 s; at most 30.0 MB/s, at most 75.0 % busy, at most 7.0 resent" in drawn[0]
    assert "two (void)" in drawn[1]
    sent = re.findall(r'<path d="M([^"]+)" fill="none" stroke="#0072b2"/>', drawn[0])[0]
    # 10, 30 and 0 MB/s at 0.5, 1 and 1.5 of 1.5 s, in a panel from 12 to 45 from the top down
    assert sent == "107,34 213,12 320,45"
    assert_page_of_the_labs(html)


def test_of_very_many_courses_some_are_drawn_evenly(tmp_path: Path) -> None:
    count = 3 * MOST_COURSES
    run = write_run(tmp_path, [])
    frame = dataframe.frame([trial(trial_id=f"t{number}", block=number + 1) for number in range(count)], {})
    with run.samples_path.open("w") as file:
        file.writelines(json.dumps({"trial_id": f"t{number}", **COURSE}) + "\n" for number in range(count))
    html = courses.courses(run, Analysis(frame))
    assert re.findall(r"t(\d+)</summary>", html) == [str(number) for number in range(0, count, 3)]
    assert f"{MOST_COURSES} of {count}, evenly over the run" in html


@pytest.mark.parametrize(
    "line",
    [
        "", "{", "[]", '"x"', '{"trial_id": 1}', '{"trial_id": "other"}', '{"trial_id": "one", "client": 3}',
        '{"trial_id": "one", "client": {"at_s": "x", "tx_bytes": {}, "core_busy": [1], "connections": 4}}',
        '{"trial_id": "one", "client": {"at_s": [0, "x", 1e300, null, 2], "tx_bytes": [[], 1, 2, 3, true]}}',
        '{"trial_id": "one", "client": {"at_s": [0, 1], "core_busy": {"a": "b", "c": [NaN, Infinity]}}}',
        '{"trial_id": "one", "server": {"connections": [[1], [1, 2, 3], ["a", "b", {"retransmits": []}], 5]}}',
        json.dumps({"trial_id": "one", EVIL: EVIL, "client": {EVIL: EVIL, "core_busy": {EVIL: [1]}, "at_s": [1]}}),
    ],
)  # fmt: skip
def test_samples_that_no_lab_wrote_are_no_course(tmp_path: Path, line: str) -> None:
    run = write_run(tmp_path, [])
    run.samples_path.write_text(line + "\n")
    html = courses.courses(run, Analysis(dataframe.frame([trial(trial_id="one")], {})))
    assert "plant" not in html
    assert not re.findall("nan|inf", html)


def test_samples_through_a_link_are_not_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", [trial(trial_id="one")])
    other = tmp_path / "other"
    other.write_text(json.dumps({"trial_id": "one", **COURSE}) + "\n")
    run.samples_path.symlink_to(other)
    assert courses.courses(run, Analysis(run_folder.load(run.path))) == ""
