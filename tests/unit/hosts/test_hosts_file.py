"""Files that people write: whatever is wrong in them is said once, with the place and what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.input_files import HOSTS, SWEEP
from support.paths import ROOT

from lab.base.errors import BadInput
from lab.design.factors import OPTIONS
from lab.design.sweep_file import MOST_TRIALS, Factors, load_sweep, parse_sweep
from lab.hosts import ssh_target as ways
from lab.hosts.hosts_file import load_hosts
from lab.local import host_config
from lab.local.state import Lab, Process

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


def refused_sweep(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_sweep(text, Path("my.toml"))
    assert all(line.startswith("my.toml: ") for line in str(caught.value).splitlines())
    return str(caught.value).replace("my.toml: ", "")


def test_a_hosts_file_has_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS + "# the end ; of it\n")
    hosts = load_hosts(path)
    assert (hosts.client.host, hosts.client.sudo, hosts.client.ram_disk) == ("mac.example", "nopasswd", 2 << 30)
    assert (hosts.share.serve, hosts.share.path, hosts.lab.instance) == ("existing", None, None)
    with pytest.raises(ValueError, match="frozen"):
        hosts.client.host = "other"  # type: ignore[misc]


def test_comments_end_a_value_but_a_percent_or_hash_inside_does_not(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS.replace("mac.example", "mac.example ; upstairs").replace("env:LAB_PASSWORD", "file:/a%b#c;d"))
    hosts = load_hosts(path)
    assert hosts.client.host == "mac.example"
    assert hosts.share.password == "file:/a%b#c;d"


@pytest.mark.parametrize("path", [*ROOT.glob("hosts.ini")], ids=lambda path: path.name)
def test_hosts_files_that_come_with_the_lab_load(path: Path) -> None:
    load_hosts(path)


@pytest.mark.parametrize("path", sorted(ROOT.glob("sweeps/*.toml")), ids=lambda path: path.name)
def test_sweeps_that_come_with_the_lab_load(path: Path) -> None:
    assert load_sweep(path).description


LINUX = {"client": "linux", "server": "linux"}


def test_the_hosts_file_of_a_local_lab_loads(tmp_path: Path) -> None:
    lab = Lab("n", "abc", Process(1, 1), Process(1, 1), {}, "1gbit", "none", "hosts.local.n.ini", LINUX)
    path = tmp_path / lab.hosts_file
    path.write_text(host_config.hosts_ini(lab))
    hosts = load_hosts(path)
    assert (hosts.share.serve, hosts.lab.instance) == ("lab", "n/abc")
    assert hosts.client.proxy_command is not None


def test_old_algorithms_are_added_to_what_ssh_offers(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    wanted = "diffie-hellman-group14-sha1 ssh-rsa aes128-cbc diffie-hellman-group-exchange-sha1 hmac-sha1"
    path.write_text(HOSTS.replace("[client]", f"[client]\ntransport = openssh\nssh_algorithms = {wanted}"))
    assert ways.find_target("client", load_hosts(path).client).algorithms == [
        "KexAlgorithms=+diffie-hellman-group14-sha1,diffie-hellman-group-exchange-sha1",
        "HostKeyAlgorithms=+ssh-rsa",
        "PubkeyAcceptedKeyTypes=+ssh-rsa",
        "Ciphers=+aes128-cbc",
        "MACs=+hmac-sha1",
    ]


def test_the_hosts_file_of_emulated_macs_says_what_they_are(tmp_path: Path) -> None:
    macs = {"client": "macos@15.5", "server": "macos@10.6.8"}
    lab = Lab("n", "abc", Process(1, 1), Process(1, 1), {}, "1gbit", "none", "hosts.local.n.ini", macs)
    path = tmp_path / lab.hosts_file
    path.write_text(host_config.hosts_ini(lab))
    hosts = load_hosts(path)
    assert "client an EMULATED Mac (15.5), server an EMULATED Mac (10.6.8)" in (hosts.lab.title or "")
    assert (hosts.client.user, hosts.client.sudo, str(hosts.share.path)) == ("lab", "nopasswd", "/Users/Shared/disk")
    assert (hosts.client.transport, hosts.client.ssh_algorithms) == ("paramiko", ())
    assert (hosts.server.transport, hosts.server.ssh_algorithms) == ("openssh", ("ssh-rsa",))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("host = mac", "hots = mac", "[client] hots: unknown; what may stand here is host, user, port"),
        ("host = mac", "share = x\nhost = mac", "[client] share: unknown; what may stand here is host, user"),
        ("[client]", "[clinet]", "[clinet]: unknown; what may stand here is client, server, share, lab"),
        ("[client]", "[clinet]", "[client]: missing"),
        ("[share]", "[DEFAULT]\nport = 1\n[share]", "[DEFAULT]: unknown"),
        ("account = lab\n", "", "[share] account: missing"),
        ("host = mac.example", "host =", "[client] host: is not the name of a host"),
        ("host = mac", "port = 70000\nhost = mac", "[client] port: is not a port from 1 to 65535 (it is '70000')"),
        ("host = mac", "port = ssh\nhost = mac", "[client] port: is not a port from 1 to 65535"),
        ("host = mac", "port = 1_0\nhost = mac", "[client] port: is not a port from 1 to 65535"),
        ("host = mac", "port = ٢٢\nhost = mac", "[client] port: is not a port from 1 to 65535"),
        ("host = mac", "port = 0\nhost = mac", "[client] port: is not a port from 1 to 65535"),
        ("host = mac", "sudo = yes\nhost = mac", "[client] sudo: Input should be 'nopasswd', 'password' or 'none'"),
        ("host = mac", "ram_disk = 2 gigs\nhost = mac", "[client] ram_disk: is not a size such as 64 KiB, 512 MiB"),
        ("host = mac", "ram_disk = 2 gigs\nhost = mac", "(it is '2 gigs')"),
        ("host = mac", "ram_disk = ٣ GiB\nhost = mac", "[client] ram_disk: is not a size such as 64 KiB"),
        ("192.0.2.1", "-c", "[client] data_address: is no IP address, such as 192.168.77.1; a name will not do"),
        ("192.0.2.1", "192.0.2.1/24", "[client] data_address: is no IP address"),
        ("192.0.2.1", "192.0.2.256", "[client] data_address: is no IP address"),
        ("192.0.2.1", "not an address", "[client] data_address: is no IP address"),
        ("192.0.2.1", "nas.local", "[client] data_address: is no IP address"),
        ("192.0.2.1", "", "[client] data_address: is no IP address"),
        ("192.0.2.1", "192.0.2.2", "[server] data_address: is that of [client] too"),
        ("[client]", "[lab]\ninstance = mine\n[client]", "[lab] instance: is not NAME/TOKEN as `lab local up` writes"),
        ("[client]", "[lab]\ninstance = a/b/c\n[client]", "[lab] instance: is not NAME/TOKEN"),
        ("[client]", "[client] junk", "line 1: after [section] the line must end"),
        ("[server]", "[server]]", "line 4: after [section] the line must end"),
        ("[share]", f"[share] password = {SECRET}", "line 7: after [section] the line must end"),
        ("host = nas", "proxy_command = a\0b\nhost = nas", "line 5: has a NUL character"),
        ("[share]", "[\0]\n[share]", "line 7: has a NUL character"),
        ("host = mac", "mount_base = tmp\nhost = mac", "[client] mount_base: is not a full path such as /srv"),
        ("host = mac", "mount_base = ~me/x\nhost = mac", "[client] mount_base: is not a full path such as /srv"),
        ("host = mac", "transport = telnet\nhost = mac", "[client] transport: Input should be 'paramiko' or 'openssh'"),
        ("host = mac", "ssh_algorithms = ssh-rsa\nhost = mac", "[client] ssh_algorithms: is for transport = openssh"),
        *(
            ("host = mac", f"transport = openssh\nssh_algorithms = {bad}\nhost = mac", f"ssh_algorithms: has '{shown}'")
            for bad, shown in (
                ("ssh-rsa -oProxyCommand=id", "-oProxyCommand=id"),
                ("ssh-rsa,ProxyCommand=id", "ssh-rsa,ProxyCommand=id"),
                ("+ssh-rsa", "+ssh-rsa"),
                ("hmac-sha1 none", "none"),
                ("ssh-rsa\tProxyCommand", "ProxyCommand"),
                ("ssh-*", "ssh-*"),
            )
        ),
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
)
def test_a_wrong_hosts_file_is_explained(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in refused_hosts(tmp_path, HOSTS.replace(old, new, 1))


def test_every_problem_is_said_at_once(tmp_path: Path) -> None:
    said = refused_hosts(tmp_path, HOSTS.replace("host =", "hots =").replace("account = lab\n", ""))
    assert len(said.splitlines()) == 5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "try"', 'name = "../try"', "name: String should match pattern"),
        ('name = "try"', "", "name: missing"),
        ("name", "nmae", "nmae: unknown; what may stand here is name, description, blocks, seed"),
        ("[factors]", "[factor]", "[factor]: unknown; what may stand here is"),
        ("[factors]", "[factor]", "[factors]: missing"),
        ("protocol", "protocols", "[factors] protocols: unknown; what may stand here is protocol, tool, direction"),
        ("protocol", 'name = "x"\nprotocol', "[factors] name: unknown; what may stand here is protocol, tool"),
        ('["smb"]', '"smb"', "[factors] protocol: is not a list (it is 'smb')"),
        ('["smb"]', "[]", "[factors] protocol: is an empty list; it needs at least one level"),
        ('["smb"]', '["smb", "smb"]', "[factors] protocol: has a level twice"),
        ('["smb"]', '["smb"]\nmtu = [1500, 1500]', "[factors] mtu: has a level twice"),
        ('["smb"]', '["smb"]\ntcp_space = ["64 KiB", 65536]', "[factors] tcp_space: has a level twice"),
        ('["smb"]', '["smb"]\nmtu = [575]', "[factors] mtu: Input should be greater than or equal to 576 (it is 575)"),
        ('["smb"]', '["smb"]\nmtu = [65536]', "[factors] mtu: Input should be less than or equal to 65535"),
        ('["smb"]', '["smb"]\nmtu = ["1500"]', "[factors] mtu: Input should be a valid integer (it is '1500')"),
        ('["smb"]', '["smb"]\nmtu = [true]', "[factors] mtu: Input should be a valid integer (it is True)"),
        ('["smb"]', '["smb"]\ndirection = ["up"]', "[factors] direction: Input should be 'write' or 'read'"),
        ('["smb"]', '["smb"]\nstore = ["tape"]', "[factors] store: Input should be 'ram' or 'disk'"),
        ('["smb"]', '["smb"]\ntcp_space = ["64 kib"]', "[factors] tcp_space: is not a size such as 64 KiB"),
        ('["smb"]', '["smb"]\ntcp_space = [1.5]', "[factors] tcp_space: is not a size such as 64 KiB"),
        ('"32 MiB"', "32.7", "[workload] size: is not a size such as 64 KiB, 512 MiB or 4 GiB: bytes are whole"),
        ('"32 MiB"', '"٣٢ MiB"', "[workload] size: is not a size"),
        ('name = "try"', 'name = "try"\nceiling_seconds = "300 h"', "ceiling_seconds: Input should be less than or"),
        ('name = "try"', 'name = "try"\ntime_cap = "٣ h"', "time_cap: is not a time"),
        ('"32 MiB"', '"0"', "[workload] size: is not a size such as 64 KiB, 512 MiB or 4 GiB (it is '0')"),
        ('"32 MiB"', '"0.4 B"', "[workload] size: is not a size"),
        ('"32 MiB"', '"32 MiB"\ncolour = 1', "[workload] colour: unknown; what may stand here is kind, size"),
        ('[workload]\nsize = "32 MiB"', "workload = 3", "[workload]: is not a section (it is 3)"),
        ('name = "try"', 'name = "try"\nblocks = 0', "blocks: Input should be greater than or equal to 1 (it is 0)"),
        ('name = "try"', 'name = "try"\nblocks = "3"', "blocks: Input should be a valid integer (it is '3')"),
        ('name = "try"', 'name = "try"\nseed = 1.5', "seed: Input should be a valid integer"),
        ('name = "try"', 'name = "try"\ntime_cap = "5 minutes"', "time_cap: is not a time such as 90 s, 5 min or 2 h"),
        ('name = "try"', 'name = "try"\nfraction = 0', "fraction: is not a share such as 0.25 or \"1/4\", above"),
        ('name = "try"', 'name = "try"\nfraction = "3/2"', "fraction: is not a share"),
        ('name = "try"', 'name = "try"\nfraction = "1/0"', "fraction: is not a share"),
        ('name = "try"', 'name = "try"\nfraction = "half"', "fraction: is not a share"),
        ('name = "try"', 'name = "try"\nanchors = -1', "anchors: Input should be greater than or equal to 0"),
        ('name = "try"', 'name = "try"\neffects = []', "effects: is an empty list"),
        ('name = "try"', 'name = "try"\nblocks = 10\nprecision = 0', "precision: Input should be greater than 0"),
        ('name = "try"', 'name = "try"\nblocks = 10\nprecision = "3 %"', "precision: Input should be a valid number"),
        ('name = "try"', 'name = "try"\nblocks = 9\nprecision = 0.03', "blocks: 9 are too few to stop at a precision"),
        ('name = "try"', 'name = "try"\nmax_blocks = 9', "max_blocks: means nothing without a precision"),
        (
            'name = "try"',
            'name = "try"\nblocks = 20\nprecision = 0.03\nmax_blocks = 19',
            "max_blocks: 19 are fewer than blocks (20), the least number",
        ),
        ('name = "try"', 'name = "try"\nname = "try"', "not valid TOML: Cannot overwrite a value (at line 2"),
        ('name = "try"', "name = try", "not valid TOML: Invalid value (at line 1"),
        ('name = "try"', f'name = "try"\nseed = {"9" * 5000}', "not valid TOML"),
        ('name = "try"', f'name = "try"\nseed = 0x{"f" * 5000}', "seed: Input should be less than"),
        ('name = "try"', f'name = "try"\nx = {"[" * 5000}', "not valid TOML"),
    ],
)  # fmt: skip
def test_a_wrong_sweep_is_explained(old: str, new: str, said: str) -> None:
    assert said in refused_sweep(SWEEP.replace(old, new, 1))


def test_a_list_of_one_wrong_level_is_not_called_empty_too() -> None:
    said = refused_sweep(SWEEP + "mtu = [0]\nstore = []\n").splitlines()
    assert said == [
        "[factors] mtu: Input should be greater than or equal to 576 (it is 0)",
        "[factors] store: is an empty list; it needs at least one level (it is [])",
    ]


def test_a_sweep_that_no_plan_can_hold_says_what_to_reduce() -> None:
    levels = f"mtu = {list(range(1000, 2000))}\ntcp_space = {list(range(1000, 2000))}\n"
    said = refused_sweep("blocks = 1000\n" + SWEEP + levels)
    assert said == (
        "[factors]: 2000000000 trials are more than 100000: give fewer blocks (1000) or fewer levels "
        "(direction 2, mtu 1000, tcp_space 1000)"
    )
    most = SWEEP + f"mtu = {list(range(1000, 1050))}\n"
    assert parse_sweep(f"blocks = {MOST_TRIALS // 100}\n{most}", Path("a")).blocks == 1000
    assert "100002 trials" in refused_sweep(f"blocks = 1\n{SWEEP}mtu = {list(range(1000, 51001))}\n")


def test_the_most_blocks_count_and_so_do_anchors_and_the_fraction() -> None:
    levels = f"mtu = {list(range(1000, 1050))}\n"
    precise = "blocks = 100\nprecision = 0.03\n"
    assert parse_sweep(precise + SWEEP + levels, Path("a")).most_blocks == 1000
    assert "101000 trials are more than" in refused_sweep("anchors = 1\n" + precise + SWEEP + levels)
    assert parse_sweep('anchors = 1\nfraction = "1/2"\n' + precise + SWEEP + levels, Path("a")).anchors == 1
    capped = parse_sweep("max_blocks = 150\n" + precise + SWEEP, Path("a"))
    assert (capped.most_blocks, parse_sweep("blocks = 100\n" + SWEEP, Path("a")).most_blocks) == (150, 100)


@pytest.mark.parametrize(("share", "runs"), [("0.25", 8), ('"1/4"', 8), ('"1/3"', 11), ("1", 32), ("0.001", 1)])
def test_a_fraction_is_never_fewer_cases_than_it_says(share: str, runs: int) -> None:
    assert parse_sweep(f"fraction = {share}\n{SWEEP}", Path("a")).runs_of(32) == runs


@pytest.mark.parametrize("address", ["10.99.0.1", "fd00::1"])
def test_addresses_are_taken(tmp_path: Path, address: str) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS.replace("192.0.2.1", address))
    assert load_hosts(path).client.data_address == address


def test_a_home_folder_and_no_instance_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS + "path = ~/a~b\n[lab]\ninstance =\n")
    assert (load_hosts(path).share.path, load_hosts(path).lab.instance) == ("~/a~b", None)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "marked"
    path.write_text(HOSTS, encoding="utf-8-sig")
    assert load_hosts(path).client.host == "mac.example"
    path.write_text(SWEEP, encoding="utf-8-sig")
    assert load_sweep(path).name == "try"
    # as a run keeps it, for when it is resumed
    assert parse_sweep(path.read_text(encoding="utf-8"), path).name == "try"


def test_what_is_found_wrong_later_can_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS)
    assert load_hosts(path).client.place == f"{path}: "
    assert parse_sweep(SWEEP, Path("my.toml")).place == "my.toml: "


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nothing: no such file; copy the commented hosts\.ini"):
        load_hosts(tmp_path / "nothing")
    with pytest.raises(BadInput, match="nothing: no such file; sweeps/"):
        load_sweep(tmp_path / "nothing")
    with pytest.raises(BadInput, match="cannot be read: "):
        load_sweep(tmp_path)
    (tmp_path / "binary").write_bytes(b"[client]\nhost = \xff\xfe")
    for load in (load_hosts, load_sweep):
        with pytest.raises(BadInput, match="binary: cannot be read: "):
            load(tmp_path / "binary")


# pieces of both formats, so that text that is nearly right comes up too
PIECES = st.sampled_from(
    [*re.findall(r"\S+", HOSTS + SWEEP), "\n", "\n", " ", "=", "[", "]", "[]", "'", '"', "#", ";", ":", "\t", "\0",
     "[[factors]]", "[factors.mtu]", "{}", "mtu", "[lab]", "%(host)s", "${HOME}", "0x1", "1e999", "1979-02-30", "x.y"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(PIECES, max_size=40).map("".join),
    st.lists(PIECES, max_size=12).map("".join).map(HOSTS.__add__),
    st.lists(PIECES, max_size=12).map("".join).map(SWEEP.__add__),
)


@settings(max_examples=150)
@given(TEXTS.map(str.encode) | st.binary(max_size=100))
@example(HOSTS.encode())
@example(SWEEP.encode())
def test_no_file_whatever_raises_anything_but_bad_input(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "some.file"
    path.write_bytes(content)
    said = []
    for load in (load_hosts, load_sweep):
        try:
            load(path)
        except BadInput as error:
            said.append(str(error))
    assert all(message.startswith(f"{path}: ") for message in said)


def test_options_have_the_levels_that_stand_for_silence() -> None:
    factors = Factors(protocol=("smb",))
    assert {name: getattr(factors, name) for name in OPTIONS} == {name: (level,) for name, level in OPTIONS.items()}
