"""Both files that people write, hosts and sweep: no content whatever is anything but read or explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.input_files import HOSTS, SWEEP

from lab.base.errors import BadInput
from lab.design.sweep_file import load_sweep, parse_sweep
from lab.hosts.hosts_file import load_hosts


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "marked"
    path.write_text(HOSTS, encoding="utf-8-sig")
    assert load_hosts(path).client.host == "mac.example"
    path.write_text(SWEEP, encoding="utf-8-sig")
    assert load_sweep(path).name == "try"
    # as a run keeps it, for when it is resumed
    assert parse_sweep(path.read_text(encoding="utf-8"), path).name == "try"


def test_what_is_found_wrong_later_can_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS)
    assert load_hosts(path).client.place == f"{path}: "
    assert parse_sweep(SWEEP, Path("my.toml")).place == "my.toml: "


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nothing: no such file; copy .*hosts\.ini and fill it in"):
        load_hosts(tmp_path / "nothing")
    with pytest.raises(BadInput, match="nothing: no such file; the sweeps that come with the lab are "):
        load_sweep(tmp_path / "nothing")
    with pytest.raises(BadInput, match="cannot be read: "):
        load_sweep(tmp_path)
    (tmp_path / "binary").write_bytes(b"[client]\nhost = \xff\xfe")
    for load in (load_hosts, load_sweep):
        with pytest.raises(BadInput, match="binary: cannot be read: "):
            load(tmp_path / "binary")


# pieces of both formats, so that text that is nearly right comes up too
PIECES = st.sampled_from(
    [*re.findall(r"\S+", HOSTS + SWEEP), "\n", "\n", " ", "=", "[", "]", "[]", "'", '"', "#", ";", ":", "\t", "\0",
     "[[factors]]", "[factors.mtu]", "{}", "mtu", "[lab]", "%(host)s", "${HOME}", "0x1", "1e999", "1979-02-30", "x.y"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(PIECES, max_size=40).map("".join),
    st.lists(PIECES, max_size=12).map("".join).map(HOSTS.__add__),
    st.lists(PIECES, max_size=12).map("".join).map(SWEEP.__add__),
)


@settings(max_examples=150)
@given(TEXTS.map(str.encode) | st.binary(max_size=100))
@example(HOSTS.encode())
@example(SWEEP.encode())
def test_no_file_whatever_raises_anything_but_bad_input(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "some.file"
    path.write_bytes(content)
    said = []
    for load in (load_hosts, load_sweep):
        try:
            load(path)
        except BadInput as error:
            said.append(str(error))
    assert all(message.startswith(f"{path}: ") for message in said)
