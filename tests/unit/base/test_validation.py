"""Both files that people write, hosts and sweep: what is wrong is said with what would be right."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.input_files import HOSTS, SWEEP

from lab.base import shipped
from lab.base.errors import BadInput
from lab.design.sweep_file import load_sweep, parse_sweep
from lab.hosts.hosts_file import load_hosts

SHIPPED = f"the sweeps that come with the lab are {', '.join(shipped.sweeps())}"


def test_a_byte_order_mark_is_no_part_of_a_file_which_names_what_is_found_wrong_later(tmp_path: Path) -> None:
    path = tmp_path / "marked"
    path.write_text(HOSTS, encoding="utf-8-sig")
    assert load_hosts(path).client.host == "mac.example"
    path.write_text(SWEEP, encoding="utf-8-sig")
    assert load_sweep(path).name == "try"
    # as a run keeps it, for when it is resumed
    assert parse_sweep(path.read_text(encoding="utf-8"), path).name == "try"
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS)
    assert load_hosts(path).client.place == f"{path}: "
    assert parse_sweep(SWEEP, Path("my.toml")).place == "my.toml: "


def test_a_missing_file_that_is_called_nearly_so_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweeps").mkdir()
    for name in ("hosts.ini", "notes.toml", "sweeps/demo.toml", "sweeps/macs.toml", "macs.ini"):
        Path(name).touch()
    for load, wrong, message in (
        (load_hosts, "hots.ini", "hots.ini: no such file; did you mean hosts.ini?"),
        (load_sweep, "ntoes.toml", "ntoes.toml: no such file; did you mean notes.toml?"),
        (load_sweep, "sweeps/mcas.toml", "sweeps/mcas.toml: no such file; did you mean sweeps/macs.toml?"),
        (load_sweep, "b.toml", f"b.toml: no such file; {SHIPPED}"),
        (load_sweep, "dmeo.toml", f"dmeo.toml: no such file; {SHIPPED}; did you mean 'demo'?"),
        (load_sweep, "dmeo", f"dmeo: no such file; {SHIPPED}; did you mean 'demo'?"),
    ):
        with pytest.raises(BadInput) as raised:
            load(Path(wrong))
        assert str(raised.value) == message


@pytest.mark.parametrize(
    ("load", "text", "message"),
    [
        (load_hosts, HOSTS.replace("[client]", "[clinet]"), "[clinet]: unknown; .*; did you mean 'client'?"),
        (load_hosts, HOSTS.replace("data_address", "data_adress", 1),
         "[client] data_adress: .*; did you mean 'data_address'?"),
        (load_sweep, SWEEP.replace("protocol", "protocols"), "[factors] protocols: .*; did you mean 'protocol'?"),
        (load_sweep, f"block = 3\n{SWEEP}", "block: unknown; .*; did you mean 'blocks'?"),
    ],
)  # fmt: skip
def test_a_misspelt_key_is_corrected(tmp_path: Path, load: Callable[[Path], object], text: str, message: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(BadInput) as raised:
        load(path)
    pattern = rf".*{re.escape(message).replace(re.escape('.*'), '.*')}"
    assert any(re.fullmatch(pattern, line) for line in str(raised.value).splitlines())


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    remedy = r"`lab init` makes one; or copy .*hosts\.ini and fill it in"
    with pytest.raises(BadInput, match=f"nothing: no such file; {remedy}"):
        load_hosts(tmp_path / "nothing")
    with pytest.raises(BadInput, match="nothing: no such file; the sweeps that come with the lab are "):
        load_sweep(tmp_path / "nothing")
    with pytest.raises(BadInput, match="cannot be read: "):
        load_sweep(tmp_path)
    (tmp_path / "binary").write_bytes(b"[client]\nhost = \xff\xfe")
    for load in (load_hosts, load_sweep):
        with pytest.raises(BadInput, match="binary: cannot be read: "):
            load(tmp_path / "binary")
