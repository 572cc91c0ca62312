"""A run over the published tables: which changes are as they were, and which went the other way."""

from pathlib import Path

from support.synthetic_runs import trial, write_run

from lab.report.compared import published
from lab.results.trial import Trial


def read_at(block: int, protocol: str, speed: float) -> Trial:
    """One read with buffers of 512 KiB, at this many MB/s."""
    name = f"{protocol}-{block}"
    return trial(trial_id=name, case_id=name, block=block, protocol=protocol, tool="cp", direction="read", store="ram",
                 tcp_space=512 * 1024, size_bytes=100_000_000, elapsed_s=100 / speed)  # fmt: skip


def answer_of(folder: Path, smb: float) -> str:
    """What is said of six blocks in which AFP reads at 60 MB/s and SMB at this; in 2011 it was 64.0 and 41.5."""
    trials = [read_at(block, "afp", 60 + block / 10) for block in range(6)]
    trials += [read_at(block, "smb", smb + block / 10) for block in range(6)]
    return " ".join(published.answer(published.PublishedComparison(write_run(folder, trials))))


def test_a_change_that_went_the_other_way_is_named(tmp_path: Path) -> None:
    opposite = "In 1 B changed the other way, beyond chance: SMB cp read, TCP 512 KiB, against AFP."
    assert opposite in answer_of(tmp_path / "faster", 80)
    for name, smb in (("same", 60.0), ("slower", 39.0)):
        assert "the other way" not in answer_of(tmp_path / name, smb)
