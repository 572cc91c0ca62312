"""Shares of emulated Macs, really served and mounted: real bytes both ways, real refusals, and nothing left behind."""

import shlex
import subprocess
from collections.abc import Callable

import pytest
from support.local_lab import Bench, succeeded
from support.macs import SERVE, run
from support.paths import TESTS

PASSWORD = "/linux/etc/emulated-mac-password"
# asks the emulated kernel directly, as umount does
UNMOUNT = """
/linux/usr/bin/python3 -c '
import sys; sys.path.insert(0, "/linux/opt")
from emulated_mac.kernel_client import call
call("unmount", target=sys.argv[1], force=sys.argv[2] == "force")' "$1" "$2"
"""
LEFT = "ls /private/var/fuse; cat /linux/proc/mounts | cut -d ' ' -f 2 | grep -e /Users/lab/ -e /fuse/; :"
# $1 the words of nfsd about itself at the end
NFSD_SAYS = """
tries=0
until nfsd status | grep -q "$1"; do tries=$((tries + 1)); [ $tries -lt 400 ] || break; sleep 0.3; done
nfsd status
"""
# a file comes back byte for byte, and is on the server too; $1 the folder of the mount
TRANSFER = """
dd if=/dev/urandom of=/private/tmp/random bs=1048576 count=8 2>/dev/null
cat /private/tmp/random > "$1/random" && cmp /private/tmp/random "$1/random" && cat "$1/f" && rm "$1/f"
"""


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    """The client is macOS 15.5; the server is OS X 10.9, which serves all three protocols."""
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@10.9")
    assert run(bench, "server", SERVE).returncode == 0
    return bench


@pytest.fixture
def point(macs: Bench) -> str:
    """A mount point of the user."""
    run(macs, "client", "mkdir -p /Users/lab/mnt", user=True)
    return "/Users/lab/mnt"


def password(bench: Bench) -> str:
    return run(bench, "client", f"cat {PASSWORD}").stdout


def mount(
    bench: Bench, protocol: str, point: str, *, word: str = "", export: str = "/Volumes/labram"
) -> subprocess.CompletedProcess[str]:
    """Mount the server's share: NFS as root, because it needs a port below 1024."""
    account = f"lab:{word or password(bench)}@server-data/labram"
    if protocol == "nfs":
        options = "resvport,nolocks,soft,intr,retrycnt=0"
        return run(bench, "client", f"mount_nfs -o {options} server-data:{export} {point}")
    program = {"smb": f"mount_smbfs -N //{account}", "afp": f"mount_afp afp://{account}"}[protocol]
    return run(bench, "client", f"{program} {point}", user=True)


def unmount(bench: Bench, point: str, how: str = "") -> subprocess.CompletedProcess[str]:
    return run(bench, "client", UNMOUNT, point, how)


@pytest.mark.parametrize("protocol", ["smb", "nfs", "afp"])
def test_bytes_go_both_ways(macs: Bench, point: str, protocol: str) -> None:
    folder = "/Volumes/labram" if protocol == "nfs" else "/Users/lab/shared"
    # afpd of netatalk 4 aborts where a client replaces a file that Samba made
    run(macs, "server", f"rm -f {folder}/*; echo hello > {folder}/f; /linux/usr/bin/chown lab {folder}/f")
    succeeded(mount(macs, protocol, point))
    assert succeeded(run(macs, "client", TRANSFER, point, user=True)).stdout == "hello\n"
    paths = {"client": "/private/tmp/random", "server": f"{folder}/random"}
    sums = {run(macs, host, f"/linux/usr/bin/md5sum < {path}").stdout for host, path in paths.items()}
    assert len(sums) == 1
    assert run(macs, "server", f"ls {folder}").stdout == "random\n"
    if protocol == "smb":
        assert mount(macs, protocol, point).stderr == f"mount_smbfs: mount error: {point}: File exists\n"
    assert unmount(macs, point).returncode == 0
    assert run(macs, "client", LEFT).stdout == ""


def test_a_wrong_password_is_refused(macs: Bench, point: str) -> None:
    smb = mount(macs, "smb", point, word="wrong")
    message = "mount_smbfs: server rejected the connection: Authentication error\n"
    assert (smb.returncode, smb.stderr) == (77, message)
    afp = mount(macs, "afp", point, word="wrong")
    assert (afp.returncode, "-5023" in afp.stderr) == (97, True)
    assert run(macs, "client", LEFT).stdout == ""


def test_what_is_not_shared_is_refused(macs: Bench, point: str) -> None:
    smb = run(macs, "client", f"mount_smbfs -N //lab:{password(macs)}@server-data/none {point}", user=True)
    message = f"mount_smbfs: mount error: {point}: No such file or directory\n"
    assert (smb.returncode, smb.stderr) == (64, message)
    for options, export, as_user, code in (
        ("resvport,nolocks", "/Users", False, 13),
        ("nolocks", "/Volumes/labram", True, 13),
        ("resvport", "/Volumes/labram", True, 1),
    ):
        nfs = run(macs, "client", f"mount_nfs -o {options} server-data:{export} {point}", user=as_user)
        assert nfs.returncode == code, nfs.stderr
    assert run(macs, "client", LEFT).stdout == ""


def test_what_was_negotiated_is_told(macs: Bench, point: str) -> None:
    assert mount(macs, "smb", point).returncode == 0
    shares = run(macs, "client", f"smbutil statshares -m {point}", user=True).stdout
    assert "SMB_VERSION                   SMB_2.1\n" in shares  # the highest dialect that 10.9 serves
    assert unmount(macs, point).returncode == 0
    options = "resvport,nolocks,rsize=1048576,wsize=16384"
    succeeded(run(macs, "client", f"mount_nfs -o {options} server-data:/Volumes/labram {point}"))
    original, current = run(macs, "client", "nfsstat -m").stdout.split("-- Current mount parameters:")
    assert "rsize=1048576,wsize=16384" in original
    assert "rsize=65536,wsize=16384" in current  # the most that a Mac served up to 10.15
    assert unmount(macs, point).returncode == 0


def test_a_share_whose_server_died_comes_off(macs: Bench, point: str) -> None:
    assert mount(macs, "smb", point).returncode == 0
    smbd = "/System/Library/LaunchDaemons/com.apple.smbd.plist"
    with macs.changed("server", f"launchctl unload {smbd}", f"launchctl load {smbd}"):
        assert unmount(macs, point, "force").returncode == 0
        assert run(macs, "client", LEFT).stdout == ""
        assert mount(macs, "smb", point).stderr == "mount_smbfs: server connection failed: Connection refused\n"


def test_a_busy_share_stays_unless_forced(macs: Bench, point: str) -> None:
    assert mount(macs, "smb", point).returncode == 0
    busy = run(macs, "client", f"cd {point} && /bin/sh -c {shlex.quote(UNMOUNT)} sh {point} ''")
    assert "Resource busy" in busy.stderr
    assert unmount(macs, point, "force").returncode == 0
    assert run(macs, "client", LEFT).stdout == ""


def test_a_mount_point_must_be_the_callers(macs: Bench) -> None:
    run(macs, "client", "mkdir -p /private/var/roots")
    refused = mount(macs, "smb", "/private/var/roots")
    message = "mount_smbfs: mount error: /private/var/roots: Operation not permitted\n"
    assert (refused.returncode, refused.stderr) == (64, message)


def test_nfsd_ends_with_its_exports(macs: Bench) -> None:
    assert "nfsd is running" in run(macs, "server", "nfsd status").stdout
    away = run(macs, "server", f"mv /etc/exports /etc/exports.away; {NFSD_SAYS}", "is not running").stdout
    assert away.splitlines() == ["nfsd service is enabled", "nfsd is not running"]
    back = run(macs, "server", f"mv /etc/exports.away /etc/exports; {NFSD_SAYS}", "is running").stdout
    assert back.splitlines()[1].startswith("nfsd is running (pid ")


def test_servers_come_up_again_with_their_mac(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "client=macos@10.6", "--platform", "server=macos@10.6")
    assert run(bench, "server", SERVE).returncode == 0
    bench.check_output("local", "reboot", "--name", bench.name, "server")
    run(bench, "client", "mkdir -p /Users/lab/mnt", user=True)
    tries = "for try in 1 2 3 4 5 6 7 8 9; do mount_smbfs -N //lab:$1@server-data/labram mnt && break; sleep 0.5; done"
    done = run(bench, "client", f"{tries}; cat mnt/f", password(bench), user=True)
    assert done.stdout == "hello\n", done.stderr  # both ends speak SMB 1
    assert "unknown" in run(bench, "client", "launchctl print system").stderr
    assert run(bench, "client", "ls /sbin/mount_afp /System/Library/LaunchDaemons").stdout.count("\n") >= 4


@pytest.mark.parametrize("protocol", ["smb", "nfs", "afp"])
def test_a_linux_server_serves_macs(linux_server: Bench, protocol: str) -> None:
    bench = linux_server
    run(bench, "client", f"mkdir -p /Users/lab/{protocol}", user=True)
    run(bench, "server", "rm -f /mnt/share/*; echo hello > /mnt/share/f; chown lab /mnt/share/f")
    succeeded(mount(bench, protocol, f"/Users/lab/{protocol}", export="/mnt/share"))
    assert succeeded(run(bench, "client", TRANSFER, f"/Users/lab/{protocol}", user=True)).stdout == "hello\n"
    assert unmount(bench, f"/Users/lab/{protocol}").returncode == 0
    assert run(bench, "client", LEFT).stdout == ""


@pytest.fixture(scope="module")
def linux_server(new_bench: Callable[..., Bench]) -> Bench:
    """The client is macOS 26; the server is Linux with Samba, Ganesha and netatalk."""
    bench = new_bench("--platform", "client=macos@26.0")
    servers = (TESTS / "support" / "linux_servers.sh").read_text(encoding="utf-8")
    succeeded(run(bench, "server", servers, password(bench)))
    return bench
