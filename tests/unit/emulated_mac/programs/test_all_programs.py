"""Every program of an emulated Mac is a module, and has its place in each version."""

from pathlib import Path

from emulated_mac import profiles, programs
from emulated_mac.programs import PLACES, place


def test_every_program_is_a_module_and_every_module_is_placed() -> None:
    folder = Path(programs.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert modules == {name.replace("-", "_") for name in PLACES}
    lacking = {name for name in PLACES if place(name, profiles.PROFILES["10.6.8"]) is None}
    assert {"caffeinate", "tmutil", "purge", "mount_apfs", "python3"} <= lacking
