"""AppleDouble files: what is packed is unpacked, and another program reads the same. MD4, by RFC 1320."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulated_mac.apple_double import FINDER_INFO, RESOURCE_FORK, pack, unpack
from emulated_mac.md4 import md4

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30)


@given(st.dictionaries(NAMES, st.binary(max_size=300), max_size=5), st.binary(max_size=50))
def test_what_is_packed_is_unpacked(others: dict[str, bytes], fork: bytes) -> None:
    attributes = others | {FINDER_INFO: b"TEXTttxt".ljust(32, b"\0")} | ({RESOURCE_FORK: fork} if fork else {})
    assert unpack(pack(attributes)) == attributes


def test_the_layout_is_that_of_rfc_1740() -> None:
    content = pack({FINDER_INFO: b"TEXTttxt".ljust(32, b"\0"), "a": b"value", RESOURCE_FORK: b"fork"})
    magic, version, _, count = struct.unpack_from(">II16sH", content)
    assert (magic, version, count) == (0x00051607, 0x00020000, 2)
    parts = [struct.unpack_from(">III", content, 26 + 12 * number) for number in range(2)]
    (info, info_at, _), (fork, fork_at, fork_bytes) = parts
    assert (info, content[info_at : info_at + 8]) == (9, b"TEXTttxt")
    assert (fork, content[fork_at : fork_at + fork_bytes]) == (2, b"fork")
    assert content[info_at + 34 : info_at + 38] == b"ATTR"


@given(st.binary(max_size=400))
def test_anything_else_is_refused(content: bytes) -> None:
    with suppress(ValueError):
        unpack(b"\x00\x05\x16\x07\x00\x02\x00\x00" + content)
    with pytest.raises(ValueError, match="no AppleDouble file"):
        unpack(content)


def test_md4_by_examples_of_its_rfc() -> None:
    assert md4(b"").hex() == "31d6cfe0d16ae931b73c59d7e0c089c0"
    assert md4(b"message digest").hex() == "d9130a8164549fe818874806e1c7014b"
    assert md4(b"1234567890" * 8).hex() == "e33b4ddc9c38f2199c3e7b164fcc0536"
