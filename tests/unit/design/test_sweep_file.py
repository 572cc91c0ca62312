"""The sweep file: whatever is wrong in it is said once, with the place and what would be right."""

from pathlib import Path

import pytest
from support.input_files import SWEEP

from lab.base.errors import BadInput
from lab.design.sweep_file import MOST_TRIALS, parse_sweep


def refused_sweep(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_sweep(text, Path("my.toml"))
    assert all(line.startswith("my.toml: ") for line in str(caught.value).splitlines())
    return str(caught.value).replace("my.toml: ", "")


TOP_LEVEL = [  # a line, and why it is refused
    ('store_tools = ["dd", "dd"]', "store_tools: has a tool twice"), ("store_tools = []", "store_tools"),
    ('store_tools = ["hdparm"]', "store_tools: Input should be 'dd', "),
    ('bonnie_size = "1 GiB"', 'bonnie_size: means nothing without "bonnie++"'),
    ("bonnie_fsync = true", 'bonnie_fsync: means nothing without "bonnie++"'),
    ('ceiling_seconds = "300 h"', "ceiling_seconds: Input should be less than or"),
    ('time_cap = "٣ h"', "time_cap: is not a time"), ("seed = 1.5", "seed: Input should be a valid integer"),
    ('time_cap = "5 minutes"', "time_cap: is not a time such as 90 s, 5 min or 2 h"),
    ("blocks = 0", "blocks: Input should be greater than or equal to 1 (it is 0)"),
    ('blocks = "3"', "blocks: Input should be a valid integer (it is '3')"),
    ("fraction = 0", 'fraction: is not a share such as 0.25 or "1/4", above'),
    *((f"fraction = {bad}", "fraction: is not a share") for bad in ('"3/2"', '"1/0"', '"half"')),
    ("anchors = -1", "anchors: Input should be greater than or equal to 0"),
    ("blocks = 10\nprecision = 0", "precision: Input should be greater than 0"),
    ('blocks = 10\nprecision = "3 %"', "precision: Input should be a valid number"),
    ("blocks = 9\nprecision = 0.03", "blocks: 9 are too few to stop at a precision"),
    ("max_blocks = 9", "max_blocks: means nothing without a precision"), ("effects = []", "effects: is an empty list"),
    ("blocks = 20\nprecision = 0.03\nmax_blocks = 19", "max_blocks: 19 are fewer than blocks (20), the least number"),
    ('name = "try"', "not valid TOML: Cannot overwrite a value (at line 2"), (f'seed = {"9" * 5000}', "not valid TOML"),
    (f'seed = 0x{"f" * 5000}', "seed: Input should be less than"), (f'x = {"[" * 5000}', "not valid TOML"),
]  # fmt: skip
IN_FACTORS = [
    ("mtu = [1500, 1500]", "mtu: has a level twice"), ('tcp_space = ["64 KiB", 65536]', "tcp_space: has a level twice"),
    ("mtu = [575]", "mtu: Input should be greater than or equal to 576 (it is 575)"),
    ("mtu = [65536]", "mtu: Input should be less than or equal to 65535"),
    ('mtu = ["1500"]', "mtu: Input should be a valid integer (it is '1500')"),
    ("mtu = [true]", "mtu: Input should be a valid integer (it is True)"),
    ('direction = ["up"]', "direction: Input should be 'write' or 'read'"),
    *((f"tcp_space = [{bad}]", "tcp_space: is not a size such as 64 KiB") for bad in ('"64 kib"', "1.5")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        *(('name = "try"', f'name = "try"\n{line}', why) for line, why in TOP_LEVEL),
        *(('["smb"]', f'["smb"]\n{line}', f"[factors] {why}") for line, why in IN_FACTORS),
        ('name = "try"', 'name = "../try"', "name: String should match pattern"), ('name = "try"', "", "name: missing"),
        ("name", "nmae", "nmae: unknown; what may stand here is name, description, blocks, seed"),
        ('name = "try"', "name = try", "not valid TOML: Invalid value (at line 1"),
        ("[factors]", "[factor]", "[factor]: unknown; what may stand here is"),
        ("[factors]", "[factor]", "[factors]: missing"),
        ("protocol", "protocols", "[factors] protocols: unknown; what may stand here is protocol, tool, direction"),
        ("protocol", 'name = "x"\nprotocol', "[factors] name: unknown; what may stand here is protocol, tool"),
        ('["smb"]', '"smb"', "[factors] protocol: is not a list (it is 'smb')"),
        ('["smb"]', "[]", "[factors] protocol: is an empty list; it needs at least one level"),
        ('["smb"]', '["smb", "smb"]', "[factors] protocol: has a level twice"),
        ('["smb"]', '["local", "smb"]', 'protocol: "local" is no share: give it alone'),
        ('["smb"]', '["local"]\nmtu = [1500]', '[factors] mtu: with protocol "local" leave it out'),
        ('["smb"]', '["local"]\ntool = ["cp"]', '[factors] tool: with protocol "local" leave it out'),
        ('"32 MiB"', "32.7", "[workload] size: is not a size such as 64 KiB, 512 MiB or 4 GiB: bytes are whole"),
        *(('"32 MiB"', bad, "[workload] size: is not a size") for bad in ('"٣٢ MiB"', '"0.4 B"')),
        ('"32 MiB"', '"0"', "[workload] size: is not a size such as 64 KiB, 512 MiB or 4 GiB (it is '0')"),
        ('"32 MiB"', '"32 MiB"\ncolour = 1', "[workload] colour: unknown; what may stand here is kind, size, seconds"),
        ('"32 MiB"', '"32 MiB"\nseconds = 3', "[workload]: give either size, such as \"512 MiB\", or seconds = 3"),
        ('size = "32 MiB"', 'kind = "file"', "[workload]: give either size, such as \"512 MiB\", or seconds = 3"),
        ('size = "32 MiB"', "seconds = 601", "[workload] seconds: Input should be less than or equal to 600"),
        ('[workload]\nsize = "32 MiB"', "workload = 3", "[workload]: is not a section (it is 3)"),
    ],
)  # fmt: skip
def test_a_wrong_sweep_is_explained(old: str, new: str, message: str) -> None:
    assert message in refused_sweep(SWEEP.replace(old, new, 1))


def test_a_list_of_one_wrong_level_is_not_called_empty_too() -> None:
    assert refused_sweep(SWEEP + "mtu = [0]\nstore = []\n") == (
        "[factors] mtu: Input should be greater than or equal to 576 (it is 0)\n"
        "[factors] store: is an empty list; it needs at least one level (it is [])"
    )


def test_a_sweep_that_no_plan_can_hold_says_what_to_reduce() -> None:
    levels = f"mtu = {list(range(1000, 2000))}\ntcp_space = {list(range(1000, 2000))}\n"
    assert refused_sweep("blocks = 1000\n" + SWEEP + levels) == (
        "[factors]: 2000000000 trials are more than 100000: give fewer blocks (1000) or fewer levels "
        "(direction 2, mtu 1000, tcp_space 1000)"
    )
    most = SWEEP + f"mtu = {list(range(1000, 1050))}\n"
    assert parse_sweep(f"blocks = {MOST_TRIALS // 100}\n{most}", Path("a")).blocks == 1000
    levels = f"mtu = {list(range(1000, 1500))}\ntcp_space = {list(range(1000, 1101))}\n"
    assert "101000 trials" in refused_sweep(f"blocks = 1\n{SWEEP}{levels}")


def test_the_most_blocks_count_and_so_do_anchors_and_the_fraction() -> None:
    levels = f"mtu = {list(range(1000, 1050))}\n"
    precise = "blocks = 100\nprecision = 0.03\n"
    assert parse_sweep(precise + SWEEP + levels, Path("a")).most_blocks == 1000
    assert "101000 trials are more than" in refused_sweep("anchors = 1\n" + precise + SWEEP + levels)
    assert parse_sweep('anchors = 1\nfraction = "1/2"\n' + precise + SWEEP + levels, Path("a")).anchors == 1
    capped = parse_sweep("max_blocks = 150\n" + precise + SWEEP, Path("a"))
    assert (capped.most_blocks, parse_sweep("blocks = 100\n" + SWEEP, Path("a")).most_blocks) == (150, 100)


@pytest.mark.parametrize(("share", "runs"), [("0.25", 8), ('"1/4"', 8), ('"1/3"', 11), ("1", 32), ("0.001", 1)])
def test_a_fraction_is_never_fewer_cases_than_it_says(share: str, runs: int) -> None:
    assert parse_sweep(f"fraction = {share}\n{SWEEP}", Path("a")).runs_of(32) == runs
