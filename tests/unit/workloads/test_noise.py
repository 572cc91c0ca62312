"""The payload's noise: the same on every host, of its own for each seed, and found wrong where one byte is."""

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from support.changed_scripts import changed
from support.examples import at_most
from support.fake_host import EmulatedHost

from lab import workloads
from lab.base.errors import CommandError, TransferError
from lab.workloads import file

FILE = workloads.payload("file")
CHUNK = 1 << 18
ROUND = 8388617  # bytes after which the noise goes round
HALVED = 1 << 24  # from so many bytes on two processes compare here: on a host from 16 times as many


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> EmulatedHost:
    return EmulatedHost(tmp_path_factory.mktemp("noise"), {}, ("perl",))


def made(host: EmulatedHost, size: int, seed: str, name: str = "payload") -> Path:
    (host.folder / name).unlink(missing_ok=True)
    FILE.make(host, name, size, seed)
    return host.folder / name


@example(size=CHUNK, at=CHUNK - 1)
@example(size=2 * CHUNK + 1, at=2 * CHUNK)
@given(size=st.integers(1, 3 * CHUNK), at=st.integers(0, 3 * CHUNK))
@at_most(3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_wrong_byte_a_missing_one_and_one_too_many_are_found(host: EmulatedHost, size: int, at: int) -> None:
    payload = made(host, size, "a")
    right = payload.read_bytes()
    assert len(right) == size
    FILE.check(host, "payload", size, "a")
    wrong = bytearray(right)
    wrong[at % size] ^= 1
    for content in (bytes(wrong), right[:-1], right + b"\0"):
        payload.write_bytes(content)
        with pytest.raises(TransferError, match="client: payload does not hold what was sent: "):
            FILE.check(host, "payload", size, "a")


def test_every_seed_has_its_own_noise_and_none_compresses(host: EmulatedHost) -> None:
    first, second = (made(host, 4 * CHUNK, seed).read_bytes() for seed in ("token/b001-0001", "token/b001-0002"))
    assert made(host, 4 * CHUNK, "token/b001-0001").read_bytes() == first
    pages = [content[at : at + 4096] for content in (first, second) for at in range(0, len(content), 4096)]
    assert len(set(pages)) == len(pages)
    assert len(zlib.compress(first, 9)) > len(first)


def test_what_goes_round_is_still_made_of_blocks_that_differ(host: EmulatedHost) -> None:
    payload = made(host, 2 * ROUND + 100, "a")
    right = payload.read_bytes()
    assert right[:1000] == right[ROUND : ROUND + 1000] == right[2 * ROUND :] + right[100:1000]
    pages = [right[at : at + 4096] for at in range(0, len(right) - 4096, 4096)]
    assert len(set(pages)) == len(pages)
    FILE.check(host, "payload", len(right), "a")
    payload.write_bytes(right[:ROUND] + right[4096 : ROUND + 4096] + right[2 * ROUND :])
    with pytest.raises(TransferError, match=f"from byte {ROUND // CHUNK * CHUNK}"):
        FILE.check(host, "payload", len(right), "a")


def test_what_cannot_be_written_or_read_is_an_error_and_others_may_read_what_was_made(host: EmulatedHost) -> None:
    with pytest.raises(CommandError, match="No such file"):
        FILE.make(host, "no/such/folder", 10, "a")
    with pytest.raises(CommandError, match="No such file"):
        FILE.check(host, "nothing", 10, "a")
    assert made(host, 10, "a").stat().st_mode & 0o777 == 0o644


@pytest.fixture(scope="module")
def large(host: EmulatedHost) -> Iterator[tuple[Path, int]]:
    """A payload that two processes compare, each a part of it, and how long it is."""
    size, smaller = HALVED + 3 * CHUNK + 17, ("1 << 28", "1 << 24")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file, "NOISE", changed(file.NOISE, smaller))
        yield made(host, size, "a", "large"), size


@pytest.mark.parametrize("at", [0, HALVED // 2, HALVED // 2 + CHUNK, HALVED + 3 * CHUNK + 16])
def test_one_wrong_byte_of_a_large_payload_is_found(host: EmulatedHost, large: tuple[Path, int], at: int) -> None:
    FILE.check(host, "large", large[1], "a")
    with large[0].open("r+b") as payload:
        payload.seek(at)
        right = payload.read(1)
        payload.seek(at)
        payload.write(bytes([right[0] ^ 1]))
        payload.flush()
        with pytest.raises(TransferError, match=f"from byte {at // CHUNK * CHUNK}$"):
            FILE.check(host, "large", large[1], "a")
        payload.seek(at)
        payload.write(right)


@pytest.mark.parametrize(("change", "words"), [(1, "goes on after"), (-1, "differs within"), (-HALVED, "differs")])
def test_another_length_of_it_is_found(host: EmulatedHost, large: tuple[Path, int], change: int, words: str) -> None:
    path, size = large
    right = path.read_bytes()[change:] if change < 0 else b""
    with path.open("r+b") as payload:
        payload.truncate(size + change)
        with pytest.raises(TransferError, match=words):
            FILE.check(host, "large", size, "a")
        payload.truncate(min(size, size + change))
        payload.seek(0, 2)
        payload.write(right)
