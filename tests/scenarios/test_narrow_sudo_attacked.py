"""The account asks the helper for what the helper must refuse: by words, links, environment, standard input."""

from collections.abc import Callable, Iterator

import pytest
from support import narrow_sudo as sudo
from support.attackers import ON_LINUX
from support.local_lab import Bench
from support.waiting import wait_until

from lab.base.errors import HostLost
from lab.hosts.ssh import HELPER, SshHost
from lab.platforms.files import EMPTY, REMOVE
from lab.platforms.linux.files import DROP_CACHES
from lab.platforms.linux.ram_disk import TMPFS, Tmpfs
from lab.platforms.linux.settings import LinuxTcpBuffer
from lab.protocols.mounts.gvfs import GvfsFuse
from lab.protocols.mounts.linux import LinuxShareMount
from lab.settings.host_journal import READ

HOME = "/var/lib/file-share-lab"
FOLDER = f"{HOME}/{sudo.NAME}"
CREDENTIALS = f"credentials={FOLDER}/smb-credentials,uid=1000,gid=1000"
NFS = "proto=tcp,soft,timeo=100,retrans=3,nolock"


def mtu(interface: str, value: str) -> tuple[str, ...]:
    return ("ip", "link", "set", "dev", interface, "mtu", value)


def share(kind: str, options: str, source: str, path: str = f"{FOLDER}/mnt") -> tuple[str, ...]:
    return ("mount", "-t", kind, "-o", options, source, path)


def tmpfs(path: str, options: str = "size=4096,mode=700,uid=1000") -> tuple[str, ...]:
    return sudo.sh(TMPFS, path, options)


MAKE_FOLDER = sudo.make_folder("lab")
BUFFER = LinuxTcpBuffer("net.ipv4.tcp_rmem").change("1\t2\t3")[0].argv
UNDO = "ip link set dev eth0 mtu 1500\n"
EVIL: sudo.Attempts = {
    **sudo.attempts(HOME, "lab", DROP_CACHES, UNDO),
    "an MTU that is too small": (mtu("eth0", "67"), ""),
    "an MTU that is too large": (mtu("eth0", "65536"), ""),
    "an MTU and more": (mtu("eth0", "1500 down"), ""),
    "an MTU with a line more": (mtu("eth0", "1500\n"), ""),
    "an interface with a command": (mtu("eth0;id", "1500"), ""),
    "an option for an interface": (mtu("-force", "1500"), ""),
    "a file that is no TCP buffer": (tuple(word.replace("tcp_rmem", "ip_forward") for word in BUFFER), ""),
    "another file": (tuple("/etc/passwd" if word.startswith("/proc/") else word for word in BUFFER), ""),
    "a buffer of nothing": (tuple(word.replace("1\t2\t3", "0\t2\t3") for word in BUFFER), ""),
    "a RAM disk elsewhere": (tmpfs("/etc/ram"), ""),
    "a RAM disk above": (tmpfs(f"{FOLDER}/../ram"), ""),
    "a RAM disk in place of the folder": (tmpfs(FOLDER), ""),
    "a RAM disk of somebody else's": (tmpfs(f"{FOLDER}/ram", "size=4096,mode=700,uid=0"), ""),
    "a RAM disk for all": (tmpfs(f"{FOLDER}/ram", "size=4096,mode=777,uid=1000"), ""),
    "a RAM disk with set-uid": (tmpfs(f"{FOLDER}/ram", "size=4096,mode=700,uid=1000,suid"), ""),
    "a RAM disk beyond the memory": (tmpfs(f"{FOLDER}/ram", "size=9999999999999999,mode=700,uid=1000"), ""),
    "unmounting what is not the lab's": ((*Tmpfs(f"{FOLDER}/ram").undo("absent")[0].argv[:-1], "/proc"), ""),
    "a disk": (share("ext4", NFS, "/dev/vda"), ""),
    "a share with set-uid": (share("nfs", f"{NFS},suid", "10.99.0.2:/x"), ""),
    "a share with devices": (share("cifs", f"{CREDENTIALS},dev", "//10.99.0.2/x"), ""),
    "a share of a folder here": (share("nfs", NFS, "/root"), ""),
    "a share elsewhere": (share("nfs", NFS, "10.99.0.2:/x", "/etc"), ""),
    "a share with root's password": (share("cifs", "credentials=/root/x,uid=1000,gid=1000", "//10.99.0.2/x"), ""),
    "a share whose name has an option": (share("cifs", CREDENTIALS, "//10.99.0.2/x,cruid=0"), ""),
    "a share as root's": (share("cifs", CREDENTIALS.replace("uid=1000,", "uid=0,"), "//10.99.0.2/x"), ""),
}


@pytest.fixture(scope="module")
def narrow(new_bench: Callable[..., Bench]) -> Bench:
    bench = new_bench()
    sudo.give_password(bench)
    bench.check_output("host", "install", "--hosts", str(sudo.narrow_hosts(bench)))
    return bench


@pytest.fixture
def account(narrow: Bench) -> Iterator[SshHost]:
    """The account's connection; files, mounts and MTUs of root must not change."""
    before = narrow.inside("client", f"{ON_LINUX.root_files}; cat /proc/self/mounts; cat /sys/class/net/*/mtu")
    with sudo.connected(narrow.directory / "hosts.changed.ini") as host:
        yield host
    assert narrow.inside("client", f"{ON_LINUX.root_files}; cat /proc/self/mounts; cat /sys/class/net/*/mtu") == before


@pytest.fixture
def folder(account: SshHost) -> Iterator[SshHost]:
    """The account's connection, with a folder that the helper makes for it and removes."""
    with sudo.folder_of(account, HOME, "lab"):
        yield account


def test_what_is_not_in_its_table_is_refused(account: SshHost) -> None:
    sudo.assert_refused(account, EVIL)


def test_what_is_in_its_table_is_done(folder: SshHost) -> None:
    """The same words as they should be are accepted."""
    assert folder.run("id", "-u", root=True).stdout == "0\n"
    folder.run("mkdir", f"{FOLDER}/ram")
    folder.run(*tmpfs(f"{FOLDER}/ram"), root=True)
    line = folder.shell('grep " $1 " /proc/self/mounts', f"{FOLDER}/ram").stdout
    assert line.startswith(f"lab {FOLDER}/ram tmpfs rw,nosuid,nodev,")
    assert folder.run("stat", "-c", "%U %a", f"{FOLDER}/ram").stdout == "lab 700\n"
    folder.run(*Tmpfs(f"{FOLDER}/ram").undo("absent")[0].argv, root=True)


def test_no_link_of_the_accounts_is_followed(folder: SshHost) -> None:
    folder.shell('cd "$1" && ln -s /etc ram && ln -s /etc mnt && ln -s /etc d', FOLDER)
    for words in (tmpfs(f"{FOLDER}/ram"), share("nfs", NFS, "10.99.0.2:/x")):
        result = folder.run(*words, root=True, check=False)
        assert (result.exit_code, "is a link, or not of lab" in result.stderr) == (77, True)


def test_no_mount_goes_where_a_link_was_put_meanwhile(narrow: Bench, folder: SshHost) -> None:
    """The account keeps exchanging the folder with a link: a mount may happen, but only in a folder of the account."""
    exchange = (
        "perl -e 'chdir shift; mkdir q(ram); symlink q(/etc), q(other); for (1 .. 400000) "
        "{ rename q(ram), q(x); rename q(other), q(ram); rename q(x), q(other) }'"
    )
    folder.shell(f'{exchange} "$1" >/dev/null 2>&1 </dev/null &', FOLDER)
    codes = {folder.run(*tmpfs(f"{FOLDER}/ram"), root=True, check=False).exit_code for _ in range(40)}
    folder.shell("pkill -u lab perl; sleep 0.2")
    mounts = narrow.inside("client", "grep '^lab ' /proc/self/mounts || :").splitlines()
    for line in mounts:
        point = line.split(" ")[1]
        narrow.inside("client", f"umount {point}")
        assert point.startswith(f"{FOLDER}/"), line
    assert codes & {1, 77}, "no link was ever in the way"


def test_a_password_is_read_of_a_file_of_the_accounts_alone(narrow: Bench, folder: SshHost) -> None:
    words = share("cifs", CREDENTIALS, "//10.99.0.2/x")
    make = "printf 'username=a\\npassword=b\\n' > /root/secret; chmod 600 /root/secret"
    with narrow.changed("client", make, "rm /root/secret"):
        folder.shell('cd "$1" && mkdir mnt && ln -s /root/secret smb-credentials', FOLDER)
        assert "symbolic links" in folder.run(*words, root=True, check=False).stderr
        narrow.inside("client", f"ln -f /root/secret {FOLDER}/smb-credentials")
        assert "is not a file of lab alone" in folder.run(*words, root=True, check=False).stderr
        write = 'cd "$1" && rm -f smb-credentials && printf "%s\n" username=a password=b sec=none >smb-credentials'
        for content in (write, write.replace("username=a", "username=a,cruid=0").replace("sec=none ", "")):
            folder.shell(content, FOLDER)
            assert "refused: what is in" in folder.run(*words, root=True, check=False).stderr
        folder.shell(write.replace("sec=none ", ""), FOLDER)  # this file is right; the kernel here has no cifs
        assert "refused" not in folder.run(*words, root=True, check=False).stderr
    assert ".stage" not in narrow.inside("client", f"ls -A {HOME}")


def test_removing_a_folder_reaches_nothing_outside_of_it(narrow: Bench, account: SshHost) -> None:
    make = "mkdir /srv/kept; touch /srv/kept/file; chmod 777 /srv/kept"
    with narrow.changed("client", make, "rm -r /srv/kept"):
        account.run(*MAKE_FOLDER, root=True, given=FOLDER)
        account.shell('cd "$1" && ln -s /srv/kept a && mkdir b && touch b/c', FOLDER)
        account.run(*sudo.sh(REMOVE, FOLDER, EMPTY), root=True)
        assert narrow.inside("client", f"ls /srv/kept; ls {HOME} 2>&1 || :").splitlines()[0] == "file"
        # outside of the lab's home the account itself removes files
        name = "/srv/file-share-lab-0123456789abcdef"
        narrow.inside("client", f"mkdir {name}; chown lab {name}; mkdir {name}/of-root; touch {name}/of-root/file")
        assert account.run(*sudo.sh(REMOVE, name, EMPTY), root=True, check=False).exit_code != 0
        assert account.run("rm", "-f", "--", f"{name}/of-root/file", root=True, check=False).exit_code != 0
        assert narrow.inside("client", f"ls {name}/of-root; rm -r {name}") == "file\n"


RAM, MNT, GVFS = f"{FOLDER}/ram", f"{FOLDER}/mnt", f"{FOLDER}/gvfs/run/gvfs"
# a mount needs no program behind it; $1 the user, $2 the place
FUSE = """
exec 5<>/dev/fuse; LIBMOUNT_FORCE_MOUNT2=always; export LIBMOUNT_FORCE_MOUNT2
mount -i -t fuse.gvfsd-fuse -o nosuid,nodev,fd=5,rootmode=40000,user_id=$1,group_id=$1 gvfsd-fuse $2
sleep 987 >/dev/null 2>&1 & echo $!
"""
OF_ROOTS = {
    "a RAM disk of another name": (RAM, "-t tmpfs -o nosuid,nodev,uid=1000 tmpfs"),
    "a RAM disk of root's": (RAM, "-t tmpfs -o nosuid,nodev lab"),
    "a RAM disk of another account's": (RAM, "-t tmpfs -o nosuid,nodev,uid=10001 lab"),
    "a RAM disk with devices": (RAM, "-t tmpfs -o nosuid,uid=1000 lab"),
    "a folder in place of a RAM disk": (RAM, "--bind /srv"),
    "a RAM disk in place of a share": (MNT, "-t tmpfs -o nosuid,nodev,uid=1000 lab"),
    "a folder in place of a share": (MNT, "--bind /srv"),
}


@pytest.mark.parametrize("what", OF_ROOTS)
def test_a_mount_of_roots_stays_whatever_its_path(narrow: Bench, folder: SshHost, what: str) -> None:
    path, options = OF_ROOTS[what]
    folder.run("mkdir", path)
    operation = Tmpfs(path) if path == RAM else LinuxShareMount(path)
    with narrow.changed("client", f"mount {options} {path}", f"umount {path}"):
        refused = folder.run(*operation.undo("absent")[0].argv, root=True, check=False)
        assert (refused.exit_code, "is not the lab's" in refused.stderr) == (77, True), refused.stderr


@pytest.mark.parametrize("user", [0, 65534])
def test_no_share_of_gvfs_but_its_own_is_unmounted(narrow: Bench, folder: SshHost, user: int) -> None:
    """The account moves a folder with a mount of root to the place of its own mount."""
    folder.run("mkdir", "-p", f"{FOLDER}/x/run/gvfs")
    process = narrow.inside("client", f"set -- {user} {FOLDER}/x/run/gvfs; {FUSE}").strip()
    try:
        folder.run("mv", f"{FOLDER}/x", f"{FOLDER}/gvfs")
        step = GvfsFuse(f"{FOLDER}/gvfs").undo("absent")[0]
        folder.run(*step.argv, root=step.root, check=False)
        assert folder.run("umount", "-l", GVFS, root=True, check=False).exit_code == 77
    finally:
        look = "grep -o ' fuse.gvfsd-fuse ' /proc/self/mounts"
        left = narrow.inside("client", f"{look}; umount -l {GVFS}; kill {process}")
    assert left == " fuse.gvfsd-fuse \n"


@pytest.fixture
def roots_process(narrow: Bench) -> Iterator[str]:
    """A process of root that must run until the test ends."""
    pid = narrow.inside("client", "setsid sleep 987 >/dev/null 2>&1 & echo $!").strip()
    yield pid
    assert narrow.inside("client", f"cat /proc/{pid}/comm; kill {pid}") == "sleep\n", "root's process was ended"


def test_no_process_ends_because_the_account_calls_it_its_session(account: SshHost, roots_process: str) -> None:
    noted = sudo.end_by_claims(account, HELPER, roots_process)
    assert f"held\n{roots_process}\n" not in noted
    assert noted.count("held\n") == len(sudo.claims(roots_process))


def test_a_session_of_roots_above_the_account_is_not_ended_for_it(narrow: Bench, account: SshHost) -> None:
    """Root has logged in by SSH, and become the account there."""
    lead = "setpriv --reuid=1000 --regid=1000 --clear-groups sudo -n --"
    script = (
        f"printf '{sudo.TOKEN}\\n{{}}\\n' >/tmp/given; "
        f'perl -e \'$0 = "sshd: root"; system @ARGV; sleep 987\' -- {lead} "$@" </tmp/given >/tmp/taken 2>&1 & echo $!'
    )
    words = ["local", "exec", "--name", narrow.name, "client", "--", "/bin/sh", "-c", script, "sh"]
    session = narrow.lab(*words, HELPER, *sudo.TAKE_IT).stdout.strip()
    try:
        wait_until(lambda: "\n" in narrow.inside("client", "cat /tmp/taken"))
        assert account.run(*sudo.sh(READ, ""), root=True).stdout.startswith(f"held\n{session}\n")
        taken = account.run(*sudo.TAKE_IT, root=True, given=f"{sudo.TOKEN}\n{{}}\n").stdout
        assert taken.splitlines()[0::2] == ["taken", "again"]
        account.run(*sudo.RELEASE_IT, root=True, given=f"{sudo.TOKEN}\n")
    finally:
        left = narrow.inside("client", f"cat /proc/{session}/comm; kill {session}; rm /tmp/given /tmp/taken")
    assert left == "sshd: root\n"


def test_its_own_earlier_session_is_ended(narrow: Bench, account: SshHost) -> None:
    """The host does not know that this connection is lost."""
    given = f"{sudo.TOKEN}\n{{}}\n"
    with sudo.connected(narrow.directory / "hosts.changed.ini") as lost:
        lost.run(*sudo.TAKE_IT, root=True, given=given)
        account.run(*sudo.TAKE_IT, root=True, given=given)
        with pytest.raises(HostLost):
            lost.run("true")
    account.run(*sudo.RELEASE_IT, root=True, given=f"{sudo.TOKEN}\n")


def test_nothing_of_its_surroundings_is_used(narrow: Bench, account: SshHost) -> None:
    """Environment, folder and signals, both through sudo and without sudo's cleaning of the environment."""
    try:
        assert account.shell(f"{sudo.HOSTILE} exec /usr/bin/sudo -n -- {HELPER} id -u").stdout == "0\n"
        direct = narrow.inside("client", f"{sudo.HOSTILE} SUDO_UID=1000; export SUDO_UID; exec {HELPER} id -u")
        assert direct == "0\n"
        script = f"{sudo.HOSTILE} SUDO_UID=1000; export SUDO_UID; printf '{FOLDER}' | {HELPER} \"$@\""
        words = ["local", "exec", "--name", narrow.name, "client", "--", "/bin/sh", "-c", script, "sh", *MAKE_FOLDER]
        narrow.check_output(*words)
        assert narrow.inside("client", f"rmdir {FOLDER} {HOME}; cat /tmp/evil/ran 2>/dev/null || :") == ""
    finally:
        narrow.inside("client", "rm -rf /tmp/evil")


def test_without_sudo_and_for_root_it_does_nothing(narrow: Bench, account: SshHost) -> None:
    assert account.run(HELPER, "id", "-u", check=False).exit_code == 77
    for variable in ("SUDO_UID=0", "SUDO_UID=", "SUDO_UID=1000x", "SUDO_UID=4294967294", "X="):
        assert narrow.inside("client", f"env {variable} {HELPER} id -u 2>&1 || :").startswith("file-share-lab: refused")
