"""mount_apfs(8), since 10.13."""

from . import mount_hfs


def main(argv: list[str]) -> int:
    """Mount a volume at a folder."""
    return mount_hfs.main(argv, "apfs")
