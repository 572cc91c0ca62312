"""MD4 of the emulated Mac, by the examples of RFC 1320."""

import pytest

from emulated_mac.md4 import md4


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (b"message digest", "d9130a8164549fe818874806e1c7014b"),
        (b"1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_examples_of_the_rfc(text: bytes, digest: str) -> None:
    assert md4(text).hex() == digest
