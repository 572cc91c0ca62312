"""A new factor needs one entry of the registry, and no other edit, to get from the sweep file to the effects."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.paths import ROOT, TESTS

EXAMPLE = TESTS / "examples" / "factors" / "toy.py"

# plans a sweep of the factor toy, invents its trials, and prints the toy at each step
WALK = """
import json, sys
from pathlib import Path
from lab import stats
from lab.cli.main import main
from lab.design.plan import plan
from lab.design.sweep_file import parse_sweep
from lab.results.run_folder import RunFolder, load
from lab.run.case.catalogue import CATALOGUE
from support.synthetic_runs import RUN, trial

TEXT = 'name = "try"\\nworkload = {size = 4096}\\n[factors]\\nprotocol = ["smb", "nfs"]\\ntoy = ["plain", "mad"]'
planned = plan(parse_sweep(TEXT, Path("toy.toml")), CATALOGUE)
without = plan(parse_sweep(TEXT.rpartition("\\n")[0], Path("toy.toml")), CATALOGUE)
folder = RunFolder.create(Path("results"), "try", RUN)
for slot in planned.slots:
    case, speed = slot.case, 100e6 * (0.5 if slot.case.level("toy") == "mad" else 1)
    asked = {name: case.level(name) for name in ("protocol", "tool", "direction", "mtu", "tcp_space", "store")}
    asked["direction"] = case.direction.value
    made = trial(
        trial_id=slot.trial_id, case_id=case.case_id, block=slot.block, position=slot.position, size_bytes=10**9,
        elapsed_s=10**9 / speed * (1 + slot.block / 1000), options=dict(case.options), **asked,
    )
    folder.append(made)
frame = load(folder.path)
effects = stats.effects(stats.grid(frame))
row = effects[effects["factor"] == "toy"].iloc[0]
out = {
    "default": [case.option("toy") for case in without.cases],
    "levels": [case.option("toy") for case in planned.cases],
    "served": planned.strata[2].factors,
    "effects": [effect.name for effect in planned.effects],
    "case_id": planned.cases[1].case_id,
    "column": sorted(set(frame["toy"])),
    "effect": [row["baseline"], row["level"], round(row["ratio"], 3)],
    "label": stats.change_label("toy", row["baseline"], row["level"]),
}
assert main(["show", "--full", str(folder.path)]) == 0
print(json.dumps(out))
"""


def test_a_new_factor_is_one_entry_of_the_registry(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "lab", tmp_path / "lab", ignore=shutil.ignore_patterns("__pycache__"))
    registry = tmp_path / "lab" / "design" / "factors.py"
    before, after = registry.read_text(encoding="utf-8").split("\n)\n\nBY_NAME")
    entry = EXAMPLE.read_text(encoding="utf-8").partition("TOY = ")[2].rstrip()
    registry.write_text(f"{before}\n{entry},\n)\n\nBY_NAME{after}", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{TESTS}"}
    printed = subprocess.check_output([sys.executable, "-c", WALK], cwd=tmp_path, env=environment, text=True)
    tables, _, last = printed.rstrip().rpartition("\n")
    out = json.loads(last)
    assert set(out["default"]) == {"plain"}
    assert sorted(set(out["levels"])) == ["mad", "plain"]
    assert "toy" in out["served"]
    assert out["effects"] == ["protocol", "toy"]
    assert out["case_id"] == "smb-cp-write-ram-mtu1500-tcpdefault-toy=mad"
    assert out["column"] == ["mad", "plain"]
    assert out["effect"] == ["plain", "mad", 0.5]
    assert out["label"] == "Toy plain → mad"
    assert "Toy plain → mad" in tables, tables
    assert "-50.0" in tables
