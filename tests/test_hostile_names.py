"""Names as people give them, spaces and signs included: real servers serve them, or the hosts file is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from bench import HOSTS, Bench
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st

from lab.base.errors import BadInput, Unsupported
from lab.hosts.fields import absolute, interface_name, plain_folder, share_name, user_name
from lab.hosts.hosts_file import load_hosts
from lab.protocols import Side
from lab.protocols.mounts.gvfs import bus_address

EVERY_SIGN = "a b;c'd$(touch x)`id`,e=f#g&h|i*j[k]é😀<m>$u{n}!~"
LONG = "x" * 251 + "😀"
SHARES = ("a b", "it's", '"quoted"', "100%", "$(touch x)`id`", "a;b#c,d=e&f", "-n", "é😀", "x" * 80)
SMB_CONF = """\
[global]
server role = standalone server
smb ports = 445
interfaces = 10.99.0.2
bind interfaces only = yes
disable netbios = yes
load printers = no
printcap name = /dev/null
private dir = /run/other
lock directory = /run/other
state directory = /run/other
cache directory = /run/other
pid directory = /run/other
ncalrpc dir = /run/other/ncalrpc
log file = /run/other/log
"""
SHARE = "[{}]\npath = /srv/other\nread only = no\nforce user = root\n"
START = """
mkdir -p /run/other /srv/other && cat > /run/other/smb.conf <<'END' || exit
{conf}
END
(echo {password}; echo {password}) | smbpasswd -c /run/other/smb.conf -a -s lab >/dev/null || exit
setsid smbd --foreground --no-process-group -s /run/other/smb.conf >/dev/null 2>&1 </dev/null &
echo $! > /run/other.group
until grep -q ':01BD [0-9A-F]*:0000 0A ' /proc/net/tcp; do sleep 0.05; done
"""
STOP = """
group=$(cat /run/other.group); kill -s TERM -- "-$group"
while kill -s 0 -- "-$group" 2>/dev/null; do sleep 0.05; done
rm -r /run/other /srv/other /run/other.group
"""


@pytest.mark.local_lab
@pytest.mark.parametrize("protocol", ["afp", "smb", "nfs", "ssh"])
def test_folders_of_any_name_serve_and_mount(bench: Bench, protocol: str) -> None:
    folder = f"/srv/disk/{EVERY_SIGN}/{LONG}"
    for host in HOSTS:
        bench.inside(host, f"mkdir -p {quoted(folder)} {quoted(f'/tmp/{EVERY_SIGN}'[:30])}")
    try:
        base = f"/tmp/{EVERY_SIGN}"[:30]
        hosts = bench.changed_hosts(client_mount_base=base, server_mount_base=base, share_path=folder)
        tool = "rsync" if protocol == "ssh" else "cp"
        done = bench.run(hosts=hosts, protocol=[protocol], tool=[tool], store=["ram", "disk"], size="1 MiB")
        assert done.returncode == 0, done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials())
        for host in HOSTS:
            assert bench.inside(host, f"ls -A {quoted(folder)} {quoted(base)} | grep lab || :") == ""
    finally:
        for host in HOSTS:
            bench.inside(host, f"rm -r {quoted(f'/srv/disk/{EVERY_SIGN}')} {quoted(base)}")


def quoted(path: str) -> str:
    """A path as a word of a shell, by other means than the lab's."""
    return "'" + path.replace("'", "'\\''") + "'"


@pytest.fixture
def other_samba(bench: Bench) -> Iterator[Bench]:
    """A Samba that is not the lab's, with shares of all these names."""
    conf = SMB_CONF + "".join(map(SHARE.format, SHARES))
    password = next(line.partition("file:")[2] for line in bench.hosts.read_text().splitlines() if "file:" in line)
    bench.inside("server", START.format(conf=conf, password=quoted(Path(password).read_text())))
    yield bench
    bench.inside("server", STOP)


@pytest.mark.local_lab
def test_a_share_that_was_there_before_may_have_any_name(other_samba: Bench) -> None:
    failed = {}
    for name in SHARES:
        hosts = other_samba.changed_hosts(share_serve="existing", share_path="/srv/other", share_name=name)
        once = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "1 MiB"}
        done = other_samba.run(hosts=hosts, **once)
        if done.returncode != 0:
            failed[name] = done.stdout + done.stderr + "".join(trial["reason"] for trial in other_samba.trials())
    assert failed == {}


HOSTS_INI = """\
[client]
host = a
data_address = 192.0.2.1
[server]
host = b
data_address = 192.0.2.2
[share]
account = lab
serve = {serve}
"""


def refused(folder: Path, section: str, key: str, value: str, serve: str = "lab") -> str:
    """What is said of this value; it names the place. Empty where the value is taken, and then it is kept whole."""
    before, after = HOSTS_INI.format(serve=serve).split(f"[{section}]\n")
    after = re.sub(f"^{key} = .*\n", "", after, count=1, flags=re.MULTILINE)
    path = folder / "hosts.ini"
    path.write_text(f"{before}[{section}]\n{key} = {value}\n{after}")
    try:
        found = getattr(getattr(load_hosts(path), section), key)
    except BadInput as error:
        said = str(error)
    else:
        assert found == value
        return ""
    assert said.startswith(f"{path}: [{section}] {key}: ")
    return said


@pytest.mark.parametrize("value", ["/a/../b", "/a/./b", '/a"b', "/a\\b", "/100%", "/a  b", "/${HOME}", "/" + "x" * 256,
                                   "/a\x1bb", "/a\u202eb", "/a\x85b", "~/..", "a", "-o"])  # fmt: skip
@pytest.mark.parametrize(("section", "key"), [("client", "mount_base"), ("share", "path")])
def test_a_folder_that_no_settings_can_express_is_refused(tmp_path: Path, section: str, key: str, value: str) -> None:
    assert refused(tmp_path, section, key, value)


@pytest.mark.parametrize("value", ['/a"b', "/a\\b", "/100%", "/a  b", "/${HOME}"])
def test_the_folder_of_a_share_that_was_there_is_never_written_into_settings(tmp_path: Path, value: str) -> None:
    assert refused(tmp_path, "share", "path", value, "existing") == ""


@pytest.mark.parametrize(("section", "key"), [("client", "host"), ("client", "user"), ("client", "interface"),
                                              ("share", "account"), ("share", "name")])  # fmt: skip
@pytest.mark.parametrize("value", ["-oProxyCommand=id", "$(touch x)", "a;b", "a/../b", "a\x1bb", "`id`", "a'b"])
def test_words_of_commands_are_names(tmp_path: Path, section: str, key: str, value: str) -> None:
    assert refused(tmp_path, section, key, value)


@pytest.mark.parametrize("name", [*SHARES, "x" * 255, "Müller & Söhne"])
def test_names_of_shares_that_were_there_are_taken(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, "share", "name", name, "existing") == ""


@pytest.mark.parametrize("name", ["a/b", "a\\b", ".", "..", "x" * 256, "a\x07b"])
def test_what_can_be_no_share_is_refused(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, "share", "name", name, "existing")


@given(st.text())
def test_what_is_taken_can_be_no_option_and_moves_no_cursor(text: str) -> None:
    for check in (absolute, plain_folder, share_name, user_name, interface_name):
        try:
            taken = check(text)
        except ValueError:
            continue
        assert taken.isprintable()
        assert check is share_name or not taken.startswith("-")
        assert ".." not in taken.split("/")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1).map("/".__add__))
def test_the_address_of_a_bus_is_one_value_for_dbus_and_for_xml(path: str) -> None:
    address = bus_address(path)
    scheme, _, value = address.partition("=")
    assert scheme == "unix:path"
    assert not set(value) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/.%")
    assert unquote(value) == path


def test_a_home_folder_that_no_settings_can_express_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"client: mount_base: /home/100%/x cannot have"):
        Side(FakeHost(), "linux", "192.0.2.1", "/home/100%/x", "me")


def test_a_folder_too_long_for_its_sockets_says_how_long_it_may_be() -> None:
    side = Side(FakeHost(), "linux", "192.0.2.1", f"/{'x' * 72}", "me")
    with pytest.raises(Unsupported, match="give a mount_base of at most 48 bytes"):
        side.check_sockets()
