"""The fleet file: what is wrong in it is said with its place; what is right makes pairs and tasks."""

from pathlib import Path

import pytest
from support.fleets import FleetFolder

from lab.base.errors import BadInput
from lab.fleet.fleet_file import load_fleet
from lab.fleet.plan import machines_of
from lab.hosts.hosts_file import load_hosts

QUICK = '[[tasks]]\nsweep = "quick.toml"\n'


@pytest.mark.parametrize(("text", "message"), [
    ("nmae = 1", "fleet.toml: nmae: unknown; what may stand here is name, "),
    ('name = "x"', "fleet.toml: pairs: missing"),
    ('name = "x"\npairs = 3\ntasks = []', "is to be one or more tables"),
    ('name = "x"\n[[pairs]]\n[[tasks]]\nsweep = "a"', "fleet.toml: [[pairs]] 1: hosts: missing"),
    ('name = "x"\n[[pairs]]\nhosts = ["a"]\n[[tasks]]\nsweeep = "a"',
     "[[tasks]] 1: sweeep: unknown; what may stand here is sweep, pairs, tags, repetitions, priority, windows; "
     "did you mean 'sweep'?"),
    ('name = "x"\n[[pairs]]\nhosts = ["a"]\n[[tasks]]\nsweep = "a"\nwindows = ["22-6"]', "is not a window of time"),
    ('name = "x"\n[[pairs]]\nhosts = ["a"]\n[[tasks]]\nsweep = "a"\nrepetitions = 0', "greater than or equal to 1"),
    ('name = "x"\n[[pairs]]\nhosts = ["*.ini"]\nname = "a"\n[[tasks]]\nsweep = "a"', "name: is for one file"),
    ('name = "a/b"\n[[pairs]]\nhosts = ["a"]\n[[tasks]]\nsweep = "a"', "fleet.toml: name: String should match"),
    ("name = ", "not valid TOML"),
    ("a" + ".a" * 300 + " = 1", "more than 200 dots"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(fleet: FleetFolder, text: str, message: str) -> None:
    fleet.fleet_file.write_text(text)
    with pytest.raises(BadInput) as error:
        load_fleet(fleet.fleet_file)
    assert message in str(error.value)


def test_pairs_are_files_by_name_and_by_tag(fleet: FleetFolder) -> None:
    fleet.pairs("abc")
    fleet.sweep("other")
    pairs = '[[pairs]]\nhosts = ["hosts/*.ini"]\ntags = ["all"]\n[[pairs]]\nhosts = ["hosts/b.ini"]\ntags = ["fast"]\n'
    tasks = '[[tasks]]\nsweep = "quick.toml"\nrepetitions = 2\n'
    tasks += '[[tasks]]\nsweep = "other.toml"\ntags = ["fast"]\npairs = ["c"]\npriority = 3\n'
    fleet.write(tasks, pairs=pairs)
    plan = fleet.plan()
    assert plan.pairs["b"].tags == {"all", "fast"}
    assert [task.id for task in plan.tasks] == [
        "b/other/1", "c/other/1", "a/quick/1", "b/quick/1", "c/quick/1", "a/quick/2", "b/quick/2", "c/quick/2",
    ]  # fmt: skip
    assert all(task.estimated_s > 1 for task in plan.tasks)


@pytest.mark.parametrize(("pairs", "tasks", "message"), [
    ("", '[[tasks]]\nsweep = "quick.toml"\npairs = ["aa"]', "pairs: aa: no pair has it; there are a, b"),
    ("", '[[tasks]]\nsweep = "quick.toml"\ntags = ["fst"]', "tags: fst: no pair has it; there are none"),
    ("", '[[tasks]]\nsweep = "quik.toml"', "quik.toml: no such file; did you mean"),
    ("", '[[tasks]]\nsweep = "quick.toml"\n[[tasks]]\nsweep = "quick.toml"', "runs on a by another"),
    ('[[pairs]]\nhosts = ["*.ini"]\n', "", "hosts: *.ini: no such file"),
    ('[[pairs]]\nhosts = ["*/a.ini"]\n', "", "a pattern is for the name of the file alone"),
    ('[[pairs]]\nhosts = ["hosts/a.ini"]\nname = "b"\n[[pairs]]\nhosts = ["hosts/b.ini"]\n', "", "both called 'b'"),
    ("", '[[tasks]]\nsweep = "ashift"', "serve = lab"),
])  # fmt: skip
def test_what_files_show_to_be_impossible_is_refused(fleet: FleetFolder, pairs: str, tasks: str, message: str) -> None:
    fleet.pairs("ab")
    fleet.write(f"{tasks}\n" if tasks else QUICK, pairs=pairs)
    if "ashift" in tasks:
        path = fleet.hosts / "a.ini"
        path.write_text(path.read_text().replace("serve = lab", ""))
    with pytest.raises(BadInput) as error:
        fleet.plan()
    assert message in str(error.value)


def test_a_fleet_asks_nobody_for_a_password(fleet: FleetFolder) -> None:
    path = fleet.pair("a")
    path.write_text(path.read_text().replace("[client]", "[client]\nsudo = password"))
    fleet.write()
    with pytest.raises(BadInput, match=r"a, quick: .*\[client\] sudo_password: prompt: a fleet asks nobody: give env:"):
        fleet.plan()


def test_pairs_share_a_machine_by_its_name_or_its_address(fleet: FleetFolder) -> None:
    def of(name: str, client: str, server: str, more: str = "") -> frozenset[str]:
        return machines_of(load_hosts(fleet.pair(name, client, server, more)))

    a, b, c = of("a", "10.9.0.1", "10.9.0.2"), of("b", "10.9.0.3", "10.9.0.2"), of("c", "10.9.0.4", "10.9.0.5")
    assert a & b == {"10.9.0.2", "at-10.9.0.2"}
    assert not a & c
    labs = [of(f"lab{n}", "10.9.0.1", "10.9.0.2", more=f"[lab]\ninstance = {n}/abcdef0123456789\n") for n in "xy"]
    assert labs[0].isdisjoint(labs[1] | a)


def test_the_examples_of_the_page_are_right_and_a_file_among_results_is_not_read(fleet: FleetFolder) -> None:
    example = Path(__file__).parents[2] / "examples" / "fleet.toml"
    fleet.fleet_file.write_text(example.read_text())
    assert load_fleet(fleet.fleet_file).name == "nas-autumn"
    fleet.write()
    (fleet.folder / "run.json").write_text("{}")
    with pytest.raises(BadInput, match=r"among results, .* copy what is right to a fleet file outside"):
        load_fleet(fleet.fleet_file)
