"""File systems that the lab makes, in kernels whose loop devices are a module."""

from support.guests import left
from support.local_lab import Bench


def test_file_systems_are_made_in_images_and_the_module_of_loops_goes_with_them(guests: Bench) -> None:
    before, module = left(guests), "ls -d /sys/module/loop 2>/dev/null || :"
    loaded_before = guests.inside("server", module)
    stores = ["ext4", "xfs", "btrfs"]
    done = guests.run(protocol=["nfs"], tool=["cp"], direction=["write"], size="1 MiB", store=stores)
    assert done.returncode == 0, done.stdout + done.stderr
    effective = [trial["effective"] for trial in guests.trials()]
    assert sorted(each["server_store"].partition(",")[0] for each in effective) == sorted(stores)
    assert all("kernel's NFS server" in each["server_sync_by"] for each in effective)
    assert left(guests) == before
    assert guests.inside("server", module) == loaded_before
