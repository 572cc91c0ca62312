"""The account of a Mac asks the helper for what the helper must refuse: words, links, lists, disks of others."""

from collections.abc import Callable, Iterator

import pytest
from support import narrow_sudo as sudo
from support.local_lab import Bench
from support.macs import run

from lab.hosts.ssh import HELPERS, SshHost
from lab.platforms.macos.disk_images import RamVolume, leave_alone, mount_volume
from lab.platforms.macos.files import PURGE
from lab.platforms.macos.settings import MacMtu
from lab.protocols.mounts.macos import MacShareMount
from lab.protocols.nfs.macos import mount_nfs
from lab.root_helper.program import sudoers_line

HELPER = HELPERS["Darwin"]
HOME = "/private/var/db/file-share-lab"
FOLDER = f"{HOME}/{sudo.NAME}"
RAM, MNT = f"{FOLDER}/ram", f"{FOLDER}/mnt"
MAKE_FOLDER = sudo.make_folder("you")
UNDO = "".join(" ".join(step.argv) for step in MacMtu("en0").undo("1500")[:1]) + "\n"
VOLUME = mount_volume("hfs", "/dev/disk9", RAM).argv
NFS = mount_nfs("10.99.0.2:/x", MNT, ["vers=3", "soft"]).argv
UNMOUNT = RamVolume(RAM).undo("absent")[0].argv


def exchanged(words: tuple[str, ...], old: str, new: str) -> tuple[tuple[str, ...], str]:
    assert old in words
    return tuple(new if word == old else word for word in words), ""


def sysctl(*words: str) -> tuple[tuple[str, ...], str]:
    return ("sysctl", "-w", *words), ""


EVIL: sudo.Attempts = {
    **sudo.attempts(HOME, "you", PURGE, UNDO),
    "an MTU that is too small": (("ifconfig", "en0", "mtu", "67"), ""),
    "an MTU and more": (("ifconfig", "en0", "mtu", "1500 down"), ""),
    "an interface down": (("ifconfig", "en0", "down"), ""),
    "an option for an interface": (("ifconfig", "-a", "mtu", "1500"), ""),
    "another sysctl": sysctl("net.inet.ip.forwarding=1"),
    "two of them": sysctl("net.inet.tcp.sendspace=1", "kern.ipc.maxsockbuf=1"),
    "one with a line more": sysctl("net.inet.tcp.sendspace=1\nx"),
    "one that is no number": sysctl("net.inet.tcp.sendspace=-1"),
    "one that is too large": sysctl("net.inet.tcp.sendspace=2147483648"),
    "a disk that is none": exchanged(VOLUME, "/dev/disk9", "/dev/../etc/x"),
    "a raw disk": exchanged(VOLUME, "/dev/disk9", "/dev/rdisk9"),
    "another file system": exchanged(VOLUME, "hfs", "msdos"),
    "a RAM disk with set-uid": exchanged(VOLUME, "noatime", "noatime,suid"),
    "a RAM disk elsewhere": exchanged(VOLUME, RAM, "/Volumes/x"),
    "a RAM disk above": exchanged(VOLUME, RAM, f"{FOLDER}/../ram"),
    "a RAM disk in place of the folder": exchanged(VOLUME, RAM, FOLDER),
    "a volume of root's": (leave_alone(RAM, 0, "700").argv, ""),
    "a volume for all": (leave_alone(RAM, 502, "1777").argv, ""),
    "a volume elsewhere": (leave_alone("/", 502, "700").argv, ""),
    "a share with set-uid": exchanged(NFS, NFS[2], f"{NFS[2]},suid"),
    "a share of a folder here": exchanged(NFS, "10.99.0.2:/x", "/private/var/root"),
    "a share elsewhere": exchanged(NFS, MNT, "/private/etc"),
    "unmounting what is not the lab's": (RamVolume(f"/Volumes/{sudo.NAME}").undo("absent")[0].argv, ""),
    "force for what is not the lab's": (MacShareMount(f"/Volumes/{sudo.NAME}").undo("absent")[1].argv, ""),
    "a share point": (("sharing", "-a", "/private/etc"), ""),
    "a service": (("launchctl", "unload", "/System/Library/LaunchDaemons/com.openssh.sshd.plist"), ""),
}
OF_ROOT = """
find -x /private/etc /private/var/root /private/var/db /Library -type f -exec cksum {} + |
    grep -v -e /launchd.db -e com.apple | sort
mount | grep -v /dev/fd; ifconfig en0 | grep mtu; sysctl net.inet.tcp net.inet.ip.forwarding 2>/dev/null; :
"""
ATTACH = "hdiutil attach -nomount ram://20480 | tr -d ' \\t\\n'"
AS_LAB = "cd /Users/lab && " + ATTACH
FORMAT = 'newfs_hfs -v lab "$1" >/dev/null'


@pytest.fixture(scope="module", params=["macos@15.5", "macos@10.6"])
def narrow(request: pytest.FixtureRequest, new_bench: Callable[..., Bench]) -> Bench:
    bench = new_bench("--platform", f"client={request.param}", "--platform", "server=linux")
    hosts = sudo.on_macs(bench, "/srv/disk", ("client",))
    if request.param == "macos@10.6":  # whose sudo reads one file
        line = sudoers_line("you", HELPER)
        message = bench.refusal(1, "host", "install", "--hosts", str(hosts))
        assert f"add the line `{line}` at the end" in message
        bench.inside("client", f"echo '{line}' >> /private/etc/sudoers")
    bench.check_output("host", "install", "--hosts", str(hosts))
    return bench


@pytest.fixture
def account(narrow: Bench) -> Iterator[SshHost]:
    """The account's connection; what root has must not change."""
    before = narrow.inside("client", OF_ROOT)
    with sudo.connected(narrow.directory / "hosts.changed.ini") as host:
        yield host
    assert narrow.inside("client", OF_ROOT) == before


@pytest.fixture
def folder(account: SshHost) -> Iterator[SshHost]:
    """The account's connection, with a folder that the helper makes for it and removes."""
    with sudo.folder_of(account, HOME, "you"):
        yield account


@pytest.fixture
def disk(folder: SshHost) -> Iterator[tuple[SshHost, str]]:
    """The same, with a formatted RAM image of the account, and a place to mount it."""
    device = folder.shell(ATTACH).stdout
    folder.shell(FORMAT, device.replace("/dev/", "/dev/r"))
    folder.run("mkdir", RAM)
    yield folder, device
    folder.run(*UNMOUNT, root=True)
    folder.run("hdiutil", "detach", device)


def test_what_is_not_in_its_table_is_refused(account: SshHost) -> None:
    sudo.assert_refused(account, EVIL)


def test_a_ram_disk_of_the_accounts_is_mounted_and_gives_no_rights(disk: tuple[SshHost, str]) -> None:
    """The same words as they should be are accepted."""
    host, device = disk
    host.run(*mount_volume("hfs", device, RAM).argv, root=True)
    host.run(*leave_alone(RAM, 502, "700").argv, root=True)
    line = host.shell('mount | grep -F " on $1 ("', RAM).stdout
    assert {"nosuid", "nodev", "noatime"} <= set(line.strip().rstrip(")").replace("(", ", ").split(", "))
    of_volume = host.shell('ls -ldn "$1" | cut -c 1-10; stat -f %u "$1"; ls -A "$1/.fseventsd"', RAM).stdout
    assert of_volume == "drwx------\n502\nno_log\n"
    assert host.shell('ls -ldn "$1" | cut -c 1-10; stat -f %u "$1"', FOLDER).stdout == "drwx------\n502\n"


def test_a_disk_of_somebody_elses_is_not_mounted(narrow: Bench, disk: tuple[SshHost, str]) -> None:
    host, _ = disk
    theirs = run(narrow, "client", AS_LAB, user=True).stdout
    try:
        refused = host.run(*mount_volume("hfs", theirs, RAM).argv, root=True, check=False)
        assert (refused.exit_code, "is no RAM image of you that is free" in refused.stderr) == (77, True)
    finally:
        run(narrow, "client", f"hdiutil detach {theirs}", user=True)


def test_links_on_a_volume_lead_nowhere(narrow: Bench, disk: tuple[SshHost, str]) -> None:
    host, device = disk
    host.run(*mount_volume("hfs", device, RAM).argv, root=True)
    narrow.inside("client", f"ln -s /private/etc {RAM}/.fseventsd; ln -s /private/etc/new {RAM}/.metadata_never_index")
    refused = host.run(*leave_alone(RAM, 502, "700").argv, root=True, check=False)
    assert refused.exit_code == 1
    assert "no_log" not in narrow.inside("client", "ls -A /private/etc")


def test_no_link_of_the_accounts_is_followed(folder: SshHost) -> None:
    folder.shell('cd "$1" && ln -s /private/etc ram && ln -s /private/etc mnt', FOLDER)
    for words in (VOLUME, NFS):
        result = folder.run(*words, root=True, check=False)
        assert (result.exit_code, "is a link" in result.stderr) == (77, True)


def test_a_folder_that_is_taken_lets_nobody_in(narrow: Bench, folder: SshHost) -> None:
    """An access control list of the account would: the list alone opens a folder of root with mode 0700."""
    rights = "list,add_file,search,add_subdirectory,delete_child,readattr,writeattr,readextattr,writeextattr"
    folder.run("chmod", "+a", f"user:you allow {rights},readsecurity", FOLDER)
    narrow.inside("client", f"chown root {FOLDER}")
    swap = folder.shell('cd "$1" && ln -s /private/etc ram', FOLDER, check=False)
    assert swap.exit_code == 0, "the list lets nobody in, and this test proves nothing"
    narrow.inside("client", f"rm {FOLDER}/ram; chown you {FOLDER}")
    folder.run("mkdir", MNT)
    folder.run(*NFS, root=True, check=False)  # nobody serves it
    assert folder.run("ls", "-lde", FOLDER).stdout.count("\n") == 1


@pytest.mark.parametrize("path", [RAM, MNT])
def test_a_mount_of_roots_stays_whatever_its_path(narrow: Bench, folder: SshHost, path: str) -> None:
    folder.run("mkdir", path)
    device = narrow.inside("client", ATTACH)
    mount = f"newfs_hfs -v lab {device.replace('/dev/', '/dev/r')} >/dev/null; mount -t hfs {device} {path}"
    with narrow.changed("client", mount, f"umount {path}; hdiutil detach {device}"):
        steps = (RamVolume(path) if path == RAM else MacShareMount(path)).undo("absent")
        refused = folder.run(*steps[0].argv, root=True, check=False)
        assert (refused.exit_code, "is not the lab's" in refused.stderr) == (77, True), refused.stderr


DAEMON = """
$| = 1; exit if fork; setsid; print "$$\\n"; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null"; exec qw(sleep 987)
"""


def test_no_process_ends_because_the_account_calls_it_its_session(narrow: Bench, account: SshHost) -> None:
    pid = narrow.inside("client", f"perl -MPOSIX -e '{DAEMON}'").strip()
    try:
        assert f"held\n{pid}\n" not in sudo.end_by_claims(account, HELPER, pid)
    finally:
        left = narrow.inside("client", f"ps -o pid= -p {pid}; kill {pid}").strip()
    assert left == pid


MOUNT_OF_THEIRS = "/linux/usr/bin/mount -t tmpfs -o uid=502,mode=700 theirs"


def test_what_the_account_mounted_itself_is_neither_taken_nor_given_to_it(narrow: Bench, folder: SshHost) -> None:
    """Users of a Mac may mount on their own folders, with owners ignored. Here root does it for them."""
    folder.run("mkdir", RAM, MNT)
    mount = f"{MOUNT_OF_THEIRS} {FOLDER} && mkdir {MNT} && /linux/usr/bin/chown 502 {MNT}"
    with narrow.changed("client", mount, f"/linux/usr/bin/umount {FOLDER}"):
        refused = folder.run(*NFS, root=True, check=False)
        assert (refused.exit_code, "is a mount" in refused.stderr) == (77, True), refused.stderr
    mount = f"{MOUNT_OF_THEIRS} {RAM} && /linux/usr/bin/chown root {RAM}"
    with narrow.changed("client", mount, f"/linux/usr/bin/umount {RAM}"):
        refused = folder.run(*leave_alone(RAM, 502, "700").argv, root=True, check=False)
        assert (refused.exit_code, "is no RAM disk" in refused.stderr) == (77, True), refused.stderr
        assert narrow.inside("client", f"stat -f %u {RAM}") == "0\n"


def test_no_mount_goes_where_a_link_was_put_meanwhile(narrow: Bench, disk: tuple[SshHost, str]) -> None:
    """The account keeps exchanging the folder with a link: a mount may happen, but only in a folder of the account."""
    host, device = disk
    exchange = (
        "perl -e 'chdir shift; symlink q(/private/etc), q(other); for (1 .. 4000000) "
        "{ rename q(ram), q(x); rename q(other), q(ram); rename q(x), q(other) }'"
    )
    host.shell(f'{exchange} "$1" >/dev/null 2>&1 </dev/null &', FOLDER)
    codes = [host.run(*mount_volume("hfs", device, RAM).argv, root=True, check=False).exit_code for _ in range(6)]
    pids = 'ps -U you -o pid= -o command= | grep "[r]ename" | cut -c 1-6'
    host.shell(f"for pid in $({pids}); do kill $pid; done; sleep 0.3")
    for line in narrow.inside("client", "mount | grep hfs || :").splitlines():
        if device in line:
            narrow.inside("client", f"umount {device}")
            assert f" on {FOLDER}/" in line
    assert set(codes) & {1, 77}, "no link was ever in the way"
    host.shell('cd "$1" && rm -rf x other ram && mkdir ram', FOLDER)


def test_a_folder_that_a_killed_call_has_taken_is_given_back(narrow: Bench, folder: SshHost) -> None:
    note = f"{HOME}/.taken-{sudo.NAME.rpartition('-')[2]}"
    take = "chown 0:0 {1} && chmod 700 {1} && echo '99999 {2} 20 448 Mon Nov 23 10:00:00 2026' > {0}"
    narrow.inside("client", take.format(note, FOLDER, 501))  # the folder was taken from another account
    assert folder.run(*NFS, root=True, check=False).exit_code == 77
    narrow.inside("client", take.format(note, FOLDER, 502))
    folder.run(*NFS, root=True, check=False)
    result = folder.shell('stat -f "%u %Lp" "$1"; ls -A "$2"', FOLDER, HOME, root=False, check=False)
    assert result.stdout.startswith("502 700\n")
    assert ".taken" not in narrow.inside("client", f"ls -A {HOME}")


def test_nothing_of_its_surroundings_is_used(narrow: Bench, account: SshHost) -> None:
    """Environment, folder and signals, both through sudo and without sudo's cleaning of the environment."""
    try:
        assert account.shell(f"{sudo.HOSTILE} exec /usr/bin/sudo -n -- {HELPER} id -u").stdout == "0\n"
        direct = narrow.inside("client", f"{sudo.HOSTILE} SUDO_UID=502; export SUDO_UID; exec {HELPER} id -u")
        assert direct == "0\n"
        assert narrow.inside("client", "cat /tmp/evil/ran 2>/dev/null || :") == ""
    finally:
        narrow.inside("client", "rm -rf /tmp/evil")


def test_without_sudo_and_for_root_it_does_nothing(narrow: Bench, account: SshHost) -> None:
    assert account.run(HELPER, "id", "-u", check=False).exit_code == 77
    for variable in ("SUDO_UID=0", "SUDO_UID=", "SUDO_UID=502x", "X="):
        assert narrow.inside("client", f"env {variable} {HELPER} id -u 2>&1 || :").startswith("file-share-lab: refused")
