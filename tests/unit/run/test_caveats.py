"""What a run notes that figures with its stores cannot tell."""

from support.sweeps import sweep_with

from lab.run.case.made_store import caveats_of


def test_a_pool_in_files_of_one_disk_says_so_once_for_all_its_levels() -> None:
    options = {"raid": ["mirror", "raidz"], "disks": ["files", "512e"]}
    sweep = sweep_with(factors={"protocol": ["nfs"], "store": ["disk", "ext4", "zfs"], "zfs": options})
    assert caveats_of(sweep) == {
        "zfs": "ZFS in files of one disk: bytes and processor time, not what several disks gain"
    }


def test_other_stores_have_nothing_to_say() -> None:
    assert caveats_of(sweep_with(factors={"protocol": ["nfs"], "store": ["ram", "disk", "xfs"]})) == {}
