"""Whatever fact of a trial is changed: it is found, or it is one that no other fact tells anything of."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.contributions import texts
from support.examples import at_most

from lab.contribution import verify
from lab.results.packed_run import TRIALS

# What one program alone says, and what is believed: no median, ceiling, effect or status rests on any of it
BELIEVED = re.compile(
    r"retransmits|store|options\..*"  # of a test of the link, that is: those of a transfer are the plan's
    r"|effective\.(?!(client|server)_(mtu|tcp_rmem|tcp_wmem)$).*"
    r"|observed\.(client|server)\.(link_cores|waited_s|throttled_s|user|system|softirq|iowait|steal|core_\w+|process\w*"
    r"|peak_bytes_per_s|disk_busy|tool_cpu_s)"
    r"|observed\.tcp\..*|observed\.wire\.(before_first|after_last)_byte_s|observed\.flush_s"
)
SECOND_TEST = re.compile(r"size_bytes|elapsed_s")  # of the link after the trials: what iperf3 says of it alone


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif not isinstance(value, list):
        yield path, value


def changes(value: Any) -> list[Any]:
    """Other values that a forger might write there: a tenth more, a tenth less, and none."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + max(1, value // 10), value - max(1, value // 10), None]
    if isinstance(value, float):
        return [round(value * 1.1 + 0.01, 6), round(value * 0.9, 6), None]
    return ["else"] if isinstance(value, str) else [1]


def changed(record: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *rest = path
    return record | {name: changed(record[name], tuple(rest), value) if rest else value}


@at_most(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_fact_that_is_changed_is_found_or_tells_no_number_that_is_shown(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    for check in ("_check_names", "check_digests", "_check_record"):  # of names, and what a forger computes again
        monkeypatch.setattr(verify, check, lambda *_: iter(()))
    folder = Path(shutil.copytree(whole, tmp_path / "any", dirs_exist_ok=True))
    lines = (whole / TRIALS).read_text().splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[at])
    path, value = data.draw(st.sampled_from(list(leaves(record))))
    lines[at] = json.dumps(changed(record, path, data.draw(st.sampled_from(changes(value)))))
    (folder / TRIALS).write_text("".join(f"{line}\n" for line in lines))
    name = ".".join(path)
    is_believed = BELIEVED.fullmatch(name) or (record["trial_id"].endswith("-after") and SECOND_TEST.fullmatch(name))
    assert texts(folder) or is_believed, f"{record['trial_id']}: {name}"
