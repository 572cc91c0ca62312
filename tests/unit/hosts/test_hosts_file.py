"""The hosts file: whatever is wrong in it is said once, with the place and what would be right."""

from pathlib import Path

import pytest
from support.input_files import HOSTS, load_text
from support.made_up_labs import lab_of
from support.paths import ROOT

from lab.base.errors import BadInput
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.sections import MARK
from lab.hosts.ssh_target import find_target
from lab.local import host_config

SECRET = "hunter2-do-not-show"
PASSWORD_LINE = "password = env:LAB_PASSWORD"


@pytest.mark.parametrize(("mode", "exposed"), [(0o644, True), (0o640, True), (0o600, False)])
def test_a_password_in_a_file_that_others_can_read_is_to_be_changed(tmp_path: Path, mode: int, exposed: bool) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS.replace(PASSWORD_LINE, f"password = {SECRET}"))
    path.chmod(mode)
    with pytest.raises(BadInput) as refused:
        load_hosts(path)
    assert (f"`chmod 600 {path}`, and change a password that stood here" in str(refused.value)) == exposed
    assert SECRET not in str(refused.value)


def refused_hosts(folder: Path, text: str) -> str:
    """What is said of this hosts file; it always begins with the file's name."""
    path = folder / "my-hosts.ini"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_hosts(path)
    assert all(line.startswith(f"{path}: ") for line in str(caught.value).splitlines())
    assert SECRET not in str(caught.value)
    return str(caught.value).replace(f"{path}: ", "")


def test_defaults_comments_addresses_and_a_home_folder_are_taken(tmp_path: Path) -> None:
    hosts = load_text(tmp_path, HOSTS + "# the end ; of it\n")
    assert (hosts.client.host, hosts.client.sudo, hosts.client.ram_disk) == ("mac.example", "nopasswd", 2 << 30)
    assert (hosts.share.serve, hosts.share.path, hosts.lab.instance) == ("existing", None, None)
    with pytest.raises(ValueError, match="frozen"):
        hosts.client.host = "other"  # type: ignore[misc]
    text = HOSTS.replace("mac.example", "mac.example ; upstairs").replace("env:LAB_PASSWORD", "file:/a%b#c;d")
    hosts = load_text(tmp_path, text)
    assert (hosts.client.host, hosts.share.password) == ("mac.example", "file:/a%b#c;d")
    for address in ("10.99.0.1", "fd00::1"):
        assert load_text(tmp_path, HOSTS.replace("192.0.2.1", address)).client.data_address == address
    hosts = load_text(tmp_path, HOSTS + "path = ~/a~b\n[lab]\ninstance =\n")
    assert (hosts.share.path, hosts.lab.instance) == ("~/a~b", None)


def test_a_lease_is_ten_minutes_or_what_the_file_says_within_limits(tmp_path: Path) -> None:
    for line, seconds in {"": 600.0, "lease = off": None, "lease = 30 s": 30.0, "lease = 24 h": 86400.0}.items():
        assert load_text(tmp_path, f"{HOSTS}\n[lab]\n{line}\n").lab.lease == seconds
    for text in ("", "on", "none", "29 s", "25 h", "0", "-5 min", "1e9", "NaN"):
        message = refused_hosts(tmp_path, f"{HOSTS}\n[lab]\nlease = {text}\n")
        assert "[lab] lease: is not off, or a time from 30 s to 24 h" in message


def test_the_hosts_file_that_comes_with_the_lab_loads_once_it_is_filled_in(tmp_path: Path) -> None:
    load_text(tmp_path, (ROOT / "hosts.ini").read_text(encoding="utf-8").replace(MARK, ""))


def load_local_lab(folder: Path, client: str, server: str) -> Hosts:
    """The hosts file of a local lab with these systems."""
    systems = {"client": client, "server": server}
    lab = lab_of(name="n", instance="abc", platforms=systems, ssh_address="127.0.0.1")
    return load_text(folder, host_config.hosts_ini(lab))


def test_the_hosts_files_of_local_labs_load_and_say_which_macs_are_emulated(tmp_path: Path) -> None:
    hosts = load_local_lab(tmp_path, "linux", "linux")
    assert (hosts.share.serve, hosts.lab.instance) == ("lab", "n/abc")
    assert hosts.client.proxy_command is not None
    hosts = load_local_lab(tmp_path, "macos@15.5", "macos@10.6.8")
    assert "client an EMULATED Mac (15.5), server an EMULATED Mac (10.6.8)" in (hosts.lab.title or "")
    assert (hosts.client.user, hosts.client.sudo, str(hosts.share.path)) == ("lab", "nopasswd", "/Users/Shared/disk")
    assert (hosts.client.transport, hosts.client.ssh_algorithms) == ("paramiko", ())
    assert (hosts.server.transport, hosts.server.ssh_algorithms) == ("openssh", ("ssh-rsa",))


def test_old_algorithms_are_added_to_what_ssh_offers(tmp_path: Path) -> None:
    wanted = "diffie-hellman-group14-sha1 ssh-rsa aes128-cbc diffie-hellman-group-exchange-sha1 hmac-sha1"
    text = HOSTS.replace("[client]", f"[client]\ntransport = openssh\nssh_algorithms = {wanted}")
    assert find_target("client", load_text(tmp_path, text).client).algorithms == [
        "KexAlgorithms=+diffie-hellman-group14-sha1,diffie-hellman-group-exchange-sha1",
        "HostKeyAlgorithms=+ssh-rsa", "PubkeyAcceptedKeyTypes=+ssh-rsa", "Ciphers=+aes128-cbc", "MACs=+hmac-sha1",
    ]  # fmt: skip


ZONES = ("$(id)", "`id`", "-o", "a b", "a@b", "x" * 16, "\u202e")
NO_ADDRESSES = ("-c", "192.0.2.1/24", "192.0.2.256", "not an address", "nas.local", "")
OF_MANY_HOSTS = ("224.0.0.1", "239.255.255.250", "255.255.255.255", "ff02::1", "::ffff:224.0.0.1")
BAD_ADDRESSES = {
    "is no IP address, such as 192.168.77.1; a name may": NO_ADDRESSES,
    "is the address of no host": ("0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"),
    "is an address of many hosts at once": OF_MANY_HOSTS,
    "is loopback, which reaches no other machine": ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"),
    "has something after the % that is not the name": tuple(f"fe80::1%{zone}" for zone in ZONES),
}


IN_CLIENT = [  # a line, and why it is refused
    ("share = x", "share: unknown; what may stand here is host, user"),
    ("port = 70000", "port: is not a port from 1 to 65535 (it is '70000')"),
    *((f"port = {bad}", "port: is not a port from 1 to 65535") for bad in ("ssh", "1_0", "٢٢", "0")),
    ("sudo = yes", "sudo: Input should be 'nopasswd', 'password', 'helper'"),
    ("ram_disk = 2 gigs", "ram_disk: is not a size such as 64 KiB, 512 MiB"),
    ("ram_disk = ٣ GiB", "ram_disk: is not a size such as 64 KiB"),
    ("mount_base = tmp", "mount_base: is not a full path such as /srv"),
    ("mount_base = ~me/x", "mount_base: is not a full path such as /srv"),
    ("transport = telnet", "transport: Input should be 'paramiko', 'openssh' or "),
    ("ssh_algorithms = ssh-rsa", "ssh_algorithms: is for transport = openssh"),
    *(
        (f"transport = openssh\nssh_algorithms = {bad}", f"ssh_algorithms: has '{bad.split()[-1]}'")
        for bad in ("+ssh-rsa", "hmac-sha1 none", "ssh-rsa\tProxyCommand", "ssh-*", "ssh-rsa,ProxyCommand=id",
                    "ssh-rsa -oProxyCommand=id")
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        *(("host = mac", f"{line}\nhost = mac", f"[client] {why}") for line, why in IN_CLIENT),
        *(("192.0.2.1", bad, f"[client] data_address: {why}") for why in BAD_ADDRESSES for bad in BAD_ADDRESSES[why]),
        ("host = mac", "hots = mac", "[client] hots: unknown; what may stand here is host, user, port"),
        ("[client]", "[clinet]", "[clinet]: unknown; what may stand here is client, server, share, lab"),
        ("[client]", "[clinet]", "[client]: missing"), ("account = lab\n", "", "[share] account: missing"),
        ("[share]", "[DEFAULT]\nport = 1\n[share]", "[DEFAULT]: unknown"),
        ("host = mac.example", "host =", "[client] host: is not the name of a host"),
        ("host = mac", "ram_disk = 2 gigs\nhost = mac", "(it is '2 gigs')"),
        ("192.0.2.1", "192.0.2.2", "[server] data_address: is that of [client] too"),
        ("[client]", "[lab]\ninstance = mine\n[client]", "[lab] instance: is not NAME/TOKEN as `lab local up` writes"),
        ("[client]", "[lab]\ninstance = a/b/c\n[client]", "[lab] instance: is not NAME/TOKEN"),
        ("[client]", "[client] junk", "line 1: after [section] the line must end"),
        ("[server]", "[server]]", "line 4: after [section] the line must end"),
        ("[share]", f"[share] password = {SECRET}", "line 7: after [section] the line must end"),
        ("host = nas", "proxy_command = a\0b\nhost = nas", "line 5: has a NUL character"),
        ("[share]", "[\0]\n[share]", "line 7: has a NUL character"),
        ("account", "serve = both\naccount", "[share] serve: Input should be 'lab' or 'existing'"),
        ("account = lab", "account = a:b", "[share] account: is not an account"),
        ("account", "name = a/x\naccount", "[share] name: is not the name of a share"),
        ("account", "path = ~root\naccount", "[share] path: is not a full path such as /srv/lab, or ~/lab for the"),
        (PASSWORD_LINE, f"password = {SECRET}", "[share] password: is prompt, env:VARIABLE, file:PATH or keyring:SERV"),
        (PASSWORD_LINE, "password =", "[share] password: is prompt, env:VARIABLE"),
        (PASSWORD_LINE, "password = env:", "[share] password: is prompt, env:VARIABLE"),
        ("host = nas", f"sudo_password = {SECRET}\nhost = nas", "[server] sudo_password: is prompt, env:VARIABLE"),
        (PASSWORD_LINE, f"pasword = {SECRET}", "[share] pasword: unknown; what may stand here is serve, path, name"),
        (PASSWORD_LINE, f"password {SECRET}", "line 9: neither [section] nor `key = value`"),
        (PASSWORD_LINE, f"password =\n  {SECRET}", "[share] password: goes on in the next line"),
        ("[client]", f"password = {SECRET}\n[client]", "line 1: neither [section] nor `key = value`"),
        ("[client]\n", "[client]\nhost = a\n", "[line 3]: option 'host' in section 'client' already exists"),
        ("[server]", "[client]", "[line 4]: section 'client' already exists"),
        # it would become a second line of the value above, and the key would silently not be set
        ("data_address = 192.0.2.1", "  user = me\ndata_address = a", "[client] host: goes on in the next line"),
    ],
)  # fmt: skip
def test_a_wrong_hosts_file_is_explained(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in refused_hosts(tmp_path, HOSTS.replace(old, new, 1))


def test_every_problem_is_said_at_once(tmp_path: Path) -> None:
    message = refused_hosts(tmp_path, HOSTS.replace("host =", "hots =").replace("account = lab\n", ""))
    assert len(message.splitlines()) == 3
