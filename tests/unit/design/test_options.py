"""Options of a protocol's mount as factors: the cases they make, what is refused, what is told, and what is read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.paths import LINUX_CAPTURES
from support.sides import side_of
from support.sweeps import cases_of, sweep_of
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import trial, write_run

from lab import protocols, stats
from lab.base.errors import BadInput, SettingRefused
from lab.design import plan_text
from lab.design.factors import ABSENT, rank
from lab.design.grid import grid_of
from lab.design.plan import Plan, plan
from lab.design.sweep_file import Sweep
from lab.protocols import Attached, Share
from lab.protocols.mounts.linux import split_mount_options
from lab.protocols.smb.linux import parse_signed
from lab.results.run_folder import load
from lab.run.catalogue import CATALOGUE

SIGNED, UNSIGNED = (
    (LINUX_CAPTURES / f"cifs-debugdata-{name}.txt").read_text(encoding="utf-8") for name in ("signed", "unsigned")
)
MOUNTS = [line.split(" ") for line in (LINUX_CAPTURES / "mounts-7.2.txt").read_text(encoding="utf-8").splitlines()]
SHARE = r"\\10.99.0.2\lab"


def sweep(protocol: Sequence[str] = ("smb", "nfs"), **more: Any) -> Sweep:
    """A sweep of the options that ``smb`` and ``nfs`` say."""
    factors = {"protocol": list(protocol), "direction": ["write"]} | {
        name: more.pop(name) for name in ("smb", "nfs", "ssh", "mtu", "tool") if name in more
    }
    return Sweep.model_validate({"name": "try", "workload": {"size": "1 MiB"}, "factors": factors} | more)


def share(**options: str) -> Share:
    return Share("/lab/ram", "lab", "lab", SecretStr("x"), served_by_lab=True, options=options)


# --- cases


def test_an_option_multiplies_the_cases_of_its_own_protocol_only() -> None:
    wanted = sweep(smb={"dialect": ["2.1", "3.0", "default"], "signing": [True, False]}, nfs={"version": [3, 4.1]})
    made, _ = cases_of(wanted, CATALOGUE)
    assert [case.protocol for case in made] == ["smb"] * 6 + ["nfs"] * 2
    named = [{name: level for name, level in case.options if "." in name} for case in made]
    assert named[1] == {"smb.dialect": "2.1", "smb.signing": "false"}
    assert named[-1] == {"nfs.version": "4.1"}
    assert made[4].mount_options == {"signing": "true"}
    assert made[1].case_id.endswith("-smb.dialect=2.1-smb.signing=false")
    assert len({case.case_id for case in made}) == 8


def test_a_case_that_asks_for_nothing_is_the_one_that_it_always_was() -> None:
    (asked, *_), _ = cases_of(sweep(smb={"dialect": ["default", "2.1"]}), CATALOGUE)
    (plain, *_), _ = cases_of(sweep(), CATALOGUE)
    assert (asked.case_id, asked.mount_options) == (plain.case_id, {})


@pytest.mark.parametrize(
    ("protocol", "option", "given", "levels"),
    [
        ("nfs", "version", [3, 4.0, "4.1", "default"], ["3", "4.0", "4.1", "default"]),
        ("smb", "dialect", [3.0, "3.1.1"], ["3.0", "3.1.1"]),
        ("nfs", "rsize", [65536, "1 MiB"], ["64 KiB", "1 MiB"]),
        ("nfs", "nconnect", [1, 16], ["1", "16"]),
        ("nfs", "hard", [True, False], ["true", "false"]),
    ],
)
def test_levels_are_taken_as_toml_writes_them(protocol: str, option: str, given: list[Any], levels: list[str]) -> None:
    made, _ = cases_of(sweep([protocol], **{protocol: {option: given}}), CATALOGUE)
    assert [case.option(f"{protocol}.{option}") for case in made] == levels


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ({"nfs": {"version": [4]}}, 'nfs.version: is not "default" or one of 3, 4.0, 4.1, 4.2 (it is 4)'),
        ({"nfs": {"version": [True]}}, 'nfs.version: is not "default" or one of 3, 4.0, 4.1, 4.2 (it is True)'),
        ({"nfs": {"version": [4.1, "4.1"]}}, "nfs.version: has a level twice"),
        (
            {"nfs": {"versoin": [3]}},
            "nfs.versoin: unknown: nfs has client, server, version, nconnect, rsize, wsize, hard",
        ),
        ({"nfs": {"nconnect": [17]}}, 'nfs.nconnect: is not "default" or a whole number from 1 to 16 (it is 17)'),
        ({"nfs": {"nconnect": [True]}}, 'nfs.nconnect: is not "default" or a whole number from 1 to 16 (it is True)'),
        ({"nfs": {"rsize": ["5 KiB"]}}, 'nfs.rsize: is not "default" or a multiple of 4 KiB from 4 KiB to 1 MiB'),
        ({"nfs": {"rsize": ["64 KB"]}}, "nfs.rsize: is not a size such as 64 KiB"),
        ({"nfs": {"hard": [1]}}, 'nfs.hard: is not "default", true or false (it is 1)'),
        ({"nfs": {"hard": []}}, "nfs.hard: is not a list of levels (it is [])"),
        ({"smb": {"dialect": "3.0"}}, "smb.dialect: is not a list of levels (it is '3.0')"),
        ({"protocol": ["ssh"], "tool": ["rsync"], "ssh": {"x": [1]}}, "ssh.x: unknown: ssh has no options"),
        (
            {"protocol": ["nfs"], "smb": {"dialect": ["3.0"]}},
            "smb.dialect: smb is no protocol of this sweep, which has",
        ),
    ],
)
def test_what_no_option_can_be_is_refused_with_what_is_right(factors: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        cases_of(sweep(**factors), CATALOGUE)
    assert f"[factors] {said}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_too_many_trials_are_counted_with_the_options() -> None:
    few = {"version": [3, 4.0, 4.1, 4.2], "nconnect": [1, 2, 4, 8]}
    assert len(cases_of(sweep(["nfs", "smb"], nfs=few, blocks=1000), CATALOGUE)[0]) == 17
    with pytest.raises(ValueError, match=r"more than 100000.*nfs.version 4, nfs.nconnect 4, nfs.rsize 7"):
        sweep(["nfs"], nfs=few | {"rsize": [2**power for power in range(12, 19)]}, blocks=1000)


# --- plans


def test_a_plan_says_what_it_can_tell_and_names_no_hole_that_is_meant() -> None:
    wanted = sweep(smb={"signing": [True, False]}, nfs={"version": [3, 4.1]}, mtu=[1500, 9000], blocks=3)
    found = plan(wanted, CATALOGUE)
    assert [(effect.name, effect.least_pairs) for effect in found.effects] == [
        ("protocol", 2), ("mtu", 4), ("smb.signing", 2), ("nfs.version", 2),
    ]  # fmt: skip
    assert not [line for line in found.cannot_tell if "as a whole" in line]
    assert "nfs.version  3, 4.1" in "\n".join(plan_text.describe(wanted, found))


@pytest.mark.parametrize("effect", ["protocol:smb.signing", "smb.signing:nfs.version"])
def test_an_option_acts_within_its_protocol_only(effect: str) -> None:
    with pytest.raises(BadInput, match="an option goes with its own protocol only"):
        plan(sweep(smb={"signing": [True, False]}, nfs={"version": [3, 4.1]}, effects=[effect]), CATALOGUE)


def fractional() -> tuple[Sweep, Plan]:
    smb, nfs = {"dialect": ["2.1", "3.0", "3.1.1"], "signing": [True, False]}, {"version": [3, 4.0, 4.1]}
    wanted = sweep(smb=smb, nfs=nfs, mtu=[1500, 4000, 9000], tool=["cp", "rsync"], blocks=4, fraction=0.6)
    return wanted, plan(wanted, CATALOGUE)


def test_a_fraction_keeps_the_effects_of_options_apart() -> None:
    _, found = fractional()
    assert (len(found.cases), found.grid_cases) == (33, 54)
    assert found.d_efficiency > 0.5
    assert not [line for line in found.cannot_tell if " from " in line]


# --- statistics


def test_a_frame_has_a_column_for_each_option_and_none_where_nobody_named_one(tmp_path: Path) -> None:
    options = {"smb.dialect": "3.0", "placebo": "none"}
    more = [trial(trial_id=name, protocol=name) for name in ("smb", "nfs")]
    trials = [trial(protocol="smb", options=options), *more]
    assert load(write_run(tmp_path / "a", trials).path)["smb.dialect"].tolist() == ["3.0", "default", ABSENT]
    assert "smb.dialect" not in load(write_run(tmp_path / "b", more).path)


def frame_of(wanted: Sweep, logs: Any) -> Any:
    """A synthetic run of the cases of a sweep."""
    made, _ = cases_of(wanted, CATALOGUE)
    names = list(dict.fromkeys(name for case in made for name, _ in case.options if "." in name))
    of = cases(protocol=["x"] * len(made)).assign(
        protocol=[case.protocol for case in made], mtu=[case.mtu for case in made], tool=[case.tool for case in made],
        **{name: [case.option(name) for case in made] for name in names},
    )  # fmt: skip
    return of, run(of, logs(of))


WANTED = sweep(
    smb={"dialect": ["2.1", "3.0"], "signing": [True, False]}, nfs={"version": [3, 4.1, 4.2]}, mtu=[1500, 9000]
)


def test_an_option_is_compared_within_its_protocol() -> None:
    _, trials = frame_of(WANTED, lambda of: noise(np.random.default_rng(1), of, 4))
    table = stats.effects(stats.grid(trials))
    compared = table[["factor", "baseline", "level", "protocol", "n_pairs"]].to_numpy().tolist()
    assert compared == [
        ["protocol", "nfs", "smb", "all", 8], ["mtu", 1500, 9000, "nfs", 12], ["mtu", 1500, 9000, "smb", 16],
        ["smb.dialect", "2.1", "3.0", "smb", 16], ["smb.signing", "false", "true", "smb", 16],
        ["nfs.version", "3", "4.1", "nfs", 8], ["nfs.version", "3", "4.2", "nfs", 8],
    ]  # fmt: skip
    assert set(table["method"]) == {"pairs"}
    speed = np.log(trials["MB_per_s"]).groupby([trials["block"], trials["protocol"]]).mean().unstack()
    ratio = np.exp((speed["smb"] - speed["nfs"]).mean())
    assert table["ratio"].iloc[0] == pytest.approx(ratio)


def test_the_model_of_a_whole_grid_says_what_pairs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    _, trials = frame_of(WANTED, lambda of: noise(np.random.default_rng(2), of, 4))
    by_pairs = stats.effects(stats.grid(trials), by=["tool"])
    monkeypatch.setattr("lab.stats.contrasts._is_paired", lambda *_: False)
    by_model = stats.effects(stats.grid(trials), by=["tool"])
    assert set(by_model["method"]) == {"model"}
    options = by_pairs["factor"].str.contains(".", regex=False) | (by_pairs["factor"] == "protocol")
    np.testing.assert_allclose(by_model["ratio"][options], by_pairs["ratio"][options])


def test_a_fraction_finds_what_was_put_into_it() -> None:
    """Log speeds that are sums of effects: the model has to give each back, whatever cases were left out."""
    wanted, _ = fractional()
    put = {"protocol": {"smb": 0.3}, "smb.signing": {"true": -0.2}, "nfs.version": {"4.1": 0.1}, "mtu": {9000: 0.05}}

    def logs(of: Any) -> Any:
        made = sum(of[name].map(lambda level, by=by: by.get(level, 0.0)) for name, by in put.items())
        return np.tile(np.asarray(made, dtype=float)[:, None], 3)

    _, trials = frame_of(wanted, logs)
    table = stats.effects(stats.grid(trials))
    found = {(row["factor"], row["level"]): np.log(row["ratio"]) for row in table.to_dict("records")}
    assert set(table["method"][table["factor"] == "protocol"]) == {"model"}
    assert found["smb.signing", "true"] == pytest.approx(-0.2)
    assert found["nfs.version", "4.1"] == pytest.approx(0.1)
    assert found["smb.dialect", "3.0"] == pytest.approx(0, abs=1e-9)
    assert found["mtu", 9000] == pytest.approx(0.05)
    # over all signings and versions: what they cost is part of what a protocol is
    assert found["protocol", "smb"] == pytest.approx(0.3 - 0.2 / 2 - 0.1 / 3)
    assert set(table["protocol"][table["factor"] == "smb.signing"]) == {"smb"}


def test_shares_interactions_and_medians_know_options() -> None:
    _, trials = frame_of(WANTED, lambda of: noise(np.random.default_rng(3), of, 3))
    shares = stats.shares(stats.grid(trials)).table
    assert shares["share"].sum() == pytest.approx(1)
    assert shares["df"].sum() == 14 * 3 - 1
    pairs = stats.interactions(stats.grid(trials))[["factor", "with_factor"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [
        ["mtu", "smb.dialect"],
        ["mtu", "smb.signing"],
        ["mtu", "nfs.version"],
        ["smb.dialect", "smb.signing"],
    ]
    assert stats.summary(trials)["nfs.version"].value_counts().to_dict() == {ABSENT: 8, "3": 2, "4.1": 2, "4.2": 2}


def test_runs_are_compared_where_only_one_of_them_named_an_option() -> None:
    _, plain = frame_of(sweep(), lambda of: noise(np.random.default_rng(4), of, 3))
    asked = sweep(smb={"signing": ["default", True]})
    _, more = frame_of(asked, lambda of: noise(np.random.default_rng(5), of, 3))
    table, _ = stats.compare(plain, more)
    assert table[["protocol", "smb.signing"]].to_numpy().tolist() == [["nfs", ABSENT], ["smb", "default"]]
    assert ("smb.signing", ["default"], ["default", "true"]) in stats.differing_levels(plain, more)


def test_levels_are_read_in_their_order() -> None:
    assert sorted(["16", "4", "1"], key=rank) == ["1", "4", "16"]
    assert sorted(["sync", "kernel", "always", "async", "default"], key=rank) == [
        "default", "kernel", "async", "sync", "always"
    ]  # fmt: skip
    assert sorted(["1 MiB", "64 KiB", "4 KiB"], key=rank) == ["4 KiB", "64 KiB", "1 MiB"]
    assert sorted(["3.1.1", "3.0", "2.1", "true", "3.0.2"], key=rank) == ["2.1", "3.0", "3.0.2", "3.1.1", "true"]


# --- what is told, and what is read


def test_the_kernel_says_which_connection_is_signed() -> None:
    assert parse_signed(SIGNED, SHARE) == "true"
    assert parse_signed(UNSIGNED, SHARE) == "false"
    assert parse_signed(SIGNED, SHARE + "2") == ""
    assert parse_signed(SIGNED + UNSIGNED, SHARE) == ""
    assert parse_signed("", SHARE) == ""


NFS = {"client": "kernel", "server": "ganesha"}
SMB = NFS | {"signing": "true"}


def in_effect(protocol: str, fields: list[str], **said: str) -> dict[str, str]:
    options = protocols.find(protocol).options
    return {name: option.read_level(split_mount_options(fields[3]) | said) for name, option in options.items()}


def test_what_is_in_effect_stands_in_the_table_of_mounts() -> None:
    said = NFS | {"signed": "true"}
    found = [in_effect("nfs" if fields[2].startswith("nfs") else "smb", fields, **said) for fields in MOUNTS]
    expected = [
        NFS | {"version": "3", "nconnect": "4", "rsize": "64 KiB", "wsize": "512 KiB", "hard": "true"},
        NFS | {"version": "4.0", "nconnect": "1", "rsize": "512 KiB", "wsize": "512 KiB", "hard": "false"},
        NFS | {"version": "4.2", "nconnect": "16", "rsize": "512 KiB", "wsize": "64 KiB", "hard": "false"},
        *(SMB | {"dialect": dialect} for dialect in ("2.0.2", "2.1", "3.0.2", "3.1.1")),
    ]
    for levels, captured in zip(found, expected, strict=True):
        assert levels.items() >= captured.items()  # an option that was added since has a level too


def test_odd_words_of_a_mount_are_no_level() -> None:
    assert split_mount_options("rw,vers=4.2,rsize=-1,x=\x1b[2J,hard,=,a=b=c") == {"rw": "", "vers": "4.2", "hard": ""}
    assert in_effect("nfs", ["", "", "", "rsize=x,vers=9"])["rsize"] == ""


def mount(protocol: str, told: Share) -> tuple[str, Attached]:
    """What mount(8) is told on a kernel that takes everything, and what is attached then."""
    fields = next(fields for fields in MOUNTS if fields[2].startswith({"smb": "cifs", "nfs": "nfs4"}[protocol]))
    client, server = (side_of(FakeHost(role), "linux", "10.99.0.2", "/lab", "me") for role in ("client", "server"))
    assert isinstance(client.host, FakeHost)
    driver = protocols.find(protocol).driver("linux")
    vars(driver)["kernel_can"] = True
    vars(driver)["read_negotiated"] = lambda *_: {}
    vars(driver)["kernel_mount"] = lambda *_: ("source", "words")
    vars(driver)["options_outside_table"] = lambda *_: {"signed": "false"}
    client.host.on(("mkdir", "-p", "/lab/mnt"))
    client.host.on(("/bin/sh", "-c", 'grep -F " $1 " /proc/self/mounts', "sh", "/lab/mnt"), " ".join(fields) + "\n")
    steps = driver.attach(client, server, told)
    argv = next(steps).apply[0].argv
    with pytest.raises(StopIteration) as done:
        next(steps)
    return argv[argv.index("-o") + 1], done.value.value


@pytest.mark.parametrize(
    ("protocol", "options", "words"),
    [
        ("smb", {}, "words"),
        ("smb", {"dialect": "3.0.2", "signing": "true"}, "words,vers=3.02,sign"),
        ("smb", {"signing": "false"}, "words"),
        ("nfs", {"version": "4.1", "nconnect": "4", "rsize": "64 KiB"}, "words,vers=4.1,nconnect=4,rsize=65536"),
        ("nfs", {"hard": "true"}, "words,hard"),
    ],
)
def test_the_kernel_is_told_what_was_asked_for(protocol: str, options: dict[str, str], words: str) -> None:
    assert mount(protocol, share(**options))[0] == words


def test_what_is_not_as_it_was_asked_for_is_refused() -> None:
    told = share(version="4.0", rsize="1 MiB")
    with pytest.raises(
        SettingRefused, match=r"client: nfs\.rsize was set to 1 MiB and reads back as 512 KiB: client or"
    ):
        protocols.options_in_effect("nfs", told, mount("nfs", told)[1].options)
    with pytest.raises(SettingRefused, match=r"smb\.signing was set to true and reads back as unknown"):
        protocols.options_in_effect("smb", share(signing="true"), {})
    found = protocols.options_in_effect("nfs", share(version="4.0"), mount("nfs", told)[1].options)
    assert found["nfs.version"] == "4.0"


def test_a_client_that_cannot_be_told_says_so() -> None:
    host = FakeHost()
    side = side_of(host, "linux", "10.99.0.1", "/lab", "me")
    driver = protocols.find("nfs").driver("linux")
    vars(driver)["_kernel_can"] = lambda _: False
    vars(driver)["_check_gvfs"] = lambda _: None
    cannot = "this client mounts by GVfs, which takes no options: its kernel has no nfs"
    for options in ({"version": "3"}, {"client": "kernel"}):
        assert driver.cannot_attach(side, options) == cannot
    for options in ({}, {"client": "gvfs"}, {"server": "kernel"}):
        assert driver.cannot_attach(side, options) == ""
    vars(driver)["_kernel_can"] = lambda _: True
    assert driver.cannot_attach(side, {"version": "3", "client": "kernel"}) == ""
    mac, there = protocols.find("smb").driver("macos"), side_of(host, "macos", "10.99.0.1", "/lab", "me")
    assert "the lab tells macos" in mac.cannot_attach(there, {"client": "gvfs"})


def test_gvfs_takes_no_options_of_a_mount() -> None:
    made, left_out = grid_of(sweep(["nfs"], nfs={"client": ["kernel", "gvfs"], "version": ["default", 3]}), CATALOGUE)
    assert [case.mount_options for case in made] == [
        {"client": "kernel"}, {"client": "kernel", "version": "3"}, {"client": "gvfs"}
    ]  # fmt: skip
    assert left_out == ("nfs with client gvfs with version: GVfs takes no options of a mount",)


def test_a_server_is_chosen_on_plots_of_their_own() -> None:
    wanted = sweep(["nfs"], nfs={"server": ["kernel", "ganesha"], "client": ["kernel", "gvfs"]}, blocks=2)
    made = plan(wanted, CATALOGUE)
    assert "nfs.server" in made.strata[-1].factors
    assert made.changes["server"] == 4
    assert [len(list(group)) for _, group in groupby(slot.case.mount_options["server"] for slot in made.slots)] in (
        [2, 2, 2, 2],
        [2, 4, 2],
    )


def test_a_grid_without_options_is_as_before() -> None:
    found, _ = grid_of(sweep_of(protocol=["smb", "nfs"]), CATALOGUE)
    assert all("." not in name for case in found for name, _ in case.options)
