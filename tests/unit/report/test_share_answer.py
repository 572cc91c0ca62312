"""The answer of `lab measure`: the speed both ways, what held it back, how far to trust it, and one thing to try."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import observed_trials
from support.examples import at_most
from support.observed_trials import LINK, MEASURES, TARGET, a_run, blocks, read, seen, write_measured
from support.rendered import Like, by_heading, lacking

from lab import stats
from lab.report import run_report
from lab.report.answer import MOST_LINES, WIDTH, answer
from lab.report.compared.as_json import comparison_json
from lab.report.compared.comparison import Comparison
from lab.report.compared.tables import comparison_tables
from lab.report.share_answer import PLAIN
from lab.results.run_folder import Trial
from lab.stats.bottleneck import REMEDY


def answer_of(*trials: Trial, count: int = 3, **run: Any) -> dict[str, str]:
    return by_heading(answer(a_run(blocks(trials, count), **run), "results/x"))


@pytest.mark.parametrize("name", MEASURES)
def test_any_measure_has_an_answer_of_ten_lines_that_fit(name: str) -> None:
    trials, run = MEASURES[name]
    lines = answer(a_run(trials, **run), "results/x")
    assert 2 <= len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert lines[-1][:4] in ("Next", "    ")


def test_speed_interval_share_of_the_link_and_limit_are_told_both_ways() -> None:
    text = answer_of(*observed_trials.BOTH, count=5)
    assert text["Write"] == "93 MB/s (90 to 95) by cp, 79 % of what this 1 Gbit/s link carries; by rsync 71 MB/s."
    assert text["Read"].startswith("108 MB/s (107 to 110) by cp, 92 % of what this 1 Gbit/s link carries")
    assert "5 transfers each way; their true median lies in the brackets with 94 % certainty" in text["Trust"]
    write = "writing: the server or its disk (probable): neither the link (79 %) nor this machine (0.25 of"
    reads = "reading: the network link itself (certain): 92 % of what 1 Gbit/s carries"
    assert text["Held back by"] == Like(f"{write}...{reads}...")
    limit = "both ways: the server or its disk (probable): neither the link (51 %)"
    both_ways = f"{limit}...what the server does cannot be seen from here..."
    assert answer_of(seen(60.0), read(60.0))["Held back by"] == Like(both_ways)
    with_iperf3 = answer_of(seen(92.0, ceiling_bytes_per_s=100e6), count=1)
    assert "92 % of what the bare link reached" in with_iperf3["Write"]


def test_an_interval_is_that_of_the_table_where_there_are_enough_transfers() -> None:
    trials = a_run(blocks([seen(92.0), read(92.0)], 9))
    row = stats.summary(trials).iloc[0]
    text = by_heading(answer(trials, "x"))
    assert f"({row['low_MB_per_s']:.0f} to {row['high_MB_per_s']:.0f})" in text["Write"]
    assert "9 transfers each way; their true median lies in the brackets with 95 % certainty" in text["Trust"]
    single = answer_of(seen(60.0), read(60.0), count=1)
    assert single["Write"].startswith("60 MB/s by cp, 51 % of what")
    assert "chance is in every number" in single["Trust"]


@pytest.mark.parametrize(("count", "certainty"), [(2, 50), (3, 75), (4, 88), (5, 94), (6, 95)])
def test_the_answer_says_how_certain_the_brackets_of_few_transfers_are(count: int, certainty: int) -> None:
    assert f"in the brackets with {certainty} % certainty" in answer_of(seen(), read(), count=count)["Trust"]


def test_what_was_read_may_come_from_the_servers_memory_and_the_client_alone_was_idle() -> None:
    doubt = "what was read may have come from the server's memory"
    assert doubt in answer_of(seen(), read())["Trust"]
    assert doubt not in answer_of(seen())["Trust"]
    assert doubt not in answer_of(seen(), read(), hosts={"client": {}, "server": {}})["Trust"]
    assert "the client was idle otherwise" in answer_of(seen(), read(), load=[{"block": 1, "client": 0.05}])["Trust"]


@pytest.mark.parametrize(
    ("trials", "run", "step"),
    [
        ([seen(11.2), read(11.3)], {"link": LINK | {"bits_per_s": 10**8}}, "this link has negotiated only 100 Mbit/s"),
        ([seen(31.0), read(31.0)], {"link": observed_trials.WIFI}, "connect this machine by cable, and measure again"),
        ([seen(17.0), read(17.0)], {"link": observed_trials.WIFI}, "connect this machine by cable, and measure again"),
        ([seen(110.0), read(110.0)], {}, "nothing: the share is as fast as this link is"),
        ([seen(20.0, tcp={"rtt_ms": 12.0, "rtt_median_ms": 12.0, "busy_ms": 5000})], {}, "look for a slow part"),
        ([seen(11.7), read(11.7)], {}, "look for a slow part"),
        ([seen(113.0), read(60.0)], {"link": {}}, "nothing, if 1 Gbit/s is what this network has"),
        ([seen(9.0), read(110.0)], {"link": LINK | {"duplex": "half"}}, "have both ends of the cable negotiate"),
        ([seen(20.0, effective={"mount_options": "rw,sync"}), read(110.0)], {}, "mount the share without `sync`"),
        ([seen(20.0, tcp={"retransmits": 3000}), read(20.0)], {}, "try another cable, another port and another switch"),
        ([seen(60.0, client={"process_mean": 0.97}, effective={"signing": "on"})], {}, "where you trust the network"),
        ([seen(60.0, client={"process_mean": 0.97}), read(110.0)], {}, "end what else runs on this machine, or try"),
        ([seen(20.0, effective={"dialect": "SMB 1"})], {}, "the server speaks SMB 1, which is old"),
        ([seen(3.0), read(4.0)], {"link": LINK | {"tunnel": True}}, "measure without the VPN"),
        ([seen(60.0), read(60.0)], {}, "`lab measure /Volumes/media --server nas`"),
        ([seen(60.0), read(60.0)], {"title": "x; rm -rf ~", "target": TARGET | {"server": "$(x)"}},
         "`lab measure TARGET --server HOST`"),
        ([seen(60.0), read(60.0)], {"hosts": {"client": {}, "server": {}}}, "see what both hosts did"),
    ],
)  # fmt: skip
def test_the_one_thing_to_try_follows_from_what_held_it_back(trials: Any, run: dict[str, Any], step: str) -> None:
    assert step in answer_of(*trials, **run)["Next"]


def test_lost_trials_are_looked_at_first() -> None:
    half, every = (
        by_heading(answer(a_run(trials, **run), "results/x"))
        for trials, run in (MEASURES["half failed"], MEASURES["all failed"])
    )
    assert half["Next"].startswith("see why trials do not count: `lab show")
    assert every == {"Speed": "nothing was measured.", "Next": Like("see why no trial counts...")}


def test_every_limit_has_plain_words_and_no_statement_is_raw() -> None:
    assert set(REMEDY) <= set(PLAIN)
    lines = answer(a_run(blocks([seen(60.0, tool="cp\x1b[2J"), read(60.0)], 2), title="\x1b]0;x"), "results/x")
    assert all(line.isprintable() for line in lines)


@at_most(5)
@given(
    title=st.text(max_size=30), server=st.text(max_size=30) | st.integers(), bits=st.integers(-5, 10**18) | st.text()
)
def test_whatever_stands_in_run_json_an_answer_fits(title: str, server: Any, bits: Any) -> None:
    target, link = TARGET | {"server": server}, LINK | {"bits_per_s": bits}
    lines = answer(a_run(blocks([seen(), read()], 2), title=title, target=target, link=link), "x")
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("name", observed_trials.LACKING)
def test_a_measure_is_shown_in_full_and_as_json(name: str, tmp_path: Path) -> None:
    observed_trials.assert_shown_in_full(name, tmp_path)


@pytest.mark.usefixtures("empty_figures")
def test_a_measure_has_a_report(tmp_path: Path) -> None:
    folder = write_measured(tmp_path, *MEASURES["both tools"][:1])
    assert "nas (smb: media)" in run_report.write_gist(folder, shown=folder).read_text()
    page = run_report.write(folder).read_text()
    assert not lacking(page, "host-2 (smb: share-1)", "93 MB/s (90 to 95) by cp")
    assert (folder.report_path / "figures" / "throughput.png").exists()
    assert run_report.write(write_measured(tmp_path, [], name="x")).exists()


def test_two_measures_are_compared(tmp_path: Path) -> None:
    speeds = (60.0, 80.0)
    compared = Comparison([write_measured(tmp_path, blocks([seen(speed), read(speed)], 4)) for speed in speeds])
    shown: Any = comparison_json(compared)
    assert len(shown["pooled"]) == 2
    assert comparison_tables(compared)
