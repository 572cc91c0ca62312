"""Somebody pulls out a disk during a run: a real SCSI disk below a pool of ZFS."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.guests import left_but_for_zfs
from support.local_lab import Bench, succeeded
from support.paths import TESTS

DISK = "/dev/usb-disk"
SCSI = (TESTS / "support" / "scsi_disk.sh").read_text()
ENDS = 'for end in head tail; do "$end" -c 2M /var/tmp/scsi/disk; done | tr -d "\\000" | wc -c'
REMOVE = "rm -rf /var/tmp/scsi; rm -f /dev/usb-disk"


def use(bench: Bench, what: str) -> None:
    """`make`, `pull` or `plug` in the disk."""
    succeeded(bench.execute("server", "sh", "-c", SCSI, "sh", what))


def restart(bench: Bench) -> None:
    bench.check_output("local", "reboot", "server", "--name", bench.name)


LOOPS = """
modprobe loop && for number in 1 2; do
    truncate -s 700M "/var/tmp/scsi/$number" && losetup --find --show "/var/tmp/scsi/$number" || exit
done
"""


@pytest.fixture
def hosts(with_zfs: Bench) -> Iterator[Path]:
    """The hosts file with such a disk, which is empty."""
    use(with_zfs, "make")
    yield with_zfs.changed_hosts(share_image_size="600 MiB", share_devices=DISK)
    restart(with_zfs)
    with_zfs.inside("server", REMOVE)


def pulled(bench: Bench, hosts: Path, *devices: str, **levels: Any) -> str:
    """Run a sweep on a pool over these devices, and pull the disk; the output of the run, which must fail."""
    named = [word for device in devices for word in ("--write-to", device)]
    factors: dict[str, Any] = {"protocol": ["nfs"], "tool": ["cp", "dd"], "direction": ["write"], "store": ["zfs"]}
    factors |= {"zfs.disks": ["named"], **levels}
    with bench.started_run(*named, hosts=hosts, size="200 MiB", slowest=20_000_000, **factors) as run:
        bench.wait_for("b001-0001-", run)  # its payload is on the client
        use(bench, "pull")
        output, _ = run.communicate(timeout=900)
    assert (run.returncode, "Traceback" in output) == (1, False), output
    return output


def test_a_pool_whose_disk_is_pulled_ends_the_run_and_goes_once_the_disk_is_back(with_zfs: Bench, hosts: Path) -> None:
    before = left_but_for_zfs(with_zfs)
    output = pulled(with_zfs, hosts, DISK)
    (failed,) = with_zfs.trials()
    assert failed["reason"].startswith(f"server: the device {DISK} is gone; "), failed["reason"]
    assert f"{DISK} stays: another open change needs it" in output
    assert " is suspended, because its devices are gone" in with_zfs.refusal(1, "restore", "--hosts", str(hosts))
    use(with_zfs, "plug")
    with_zfs.check_output("restore", "--hosts", str(hosts))
    assert with_zfs.inside("server", ENDS).strip() == "0"
    assert left_but_for_zfs(with_zfs) == before


def test_a_pool_that_loses_one_of_its_disks_goes_on_and_its_trial_does_not_count(with_zfs: Bench, hosts: Path) -> None:
    devices = [DISK, *with_zfs.inside("server", LOOPS).split()]
    hosts = with_zfs.changed_hosts(share_image_size="900 MiB", share_devices=" ".join(devices))
    pulled(with_zfs, hosts, *devices, **{"zfs.raid": ["raidz"]})
    gone = f"the device {DISK} is gone"
    degraded, *others = with_zfs.trials()
    assert degraded["status"] == "void", degraded
    assert degraded["reason"].startswith(f"{gone}; the pool file-share-lab-"), degraded["reason"]
    assert degraded["reason"].endswith(" is DEGRADED")
    assert all(trial["status"] == "failed" and gone in trial["reason"] for trial in others), others
    use(with_zfs, "plug")
    with_zfs.check_output("restore", "--hosts", str(hosts))
    for device in devices:
        assert with_zfs.inside("server", f"head -c 2M {device} | tr -d '\\000' | wc -c").strip() == "0"
