"""How a program gets onto a host: by the system that it is, and a NAS is never told what its system refuses."""

import pytest
from support.fake_host import EmulatedHost, FakeHost

from lab.hosts import systems
from lab.hosts.systems import how_to_install

DSM, QTS, UNRAID, OPENWRT = (
    "/etc.defaults/VERSION", "/etc/default_config/uLinux.conf", "/etc/unraid-version", "/etc/openwrt_release",
)  # fmt: skip


@pytest.mark.parametrize(
    ("signs", "packages", "how"),
    [
        ("apt-get", "openssh-client", "`apt-get install openssh-client` there"),
        ("dnf yum", "openssh-client", "`dnf install openssh-clients` there"),
        ("pacman", "openssh-client openssh-server", "`pacman -S openssh` there"),
        ("pacman", "netatalk", "`pacman -S netatalk` there, or whatever Debian's netatalk is called for pacman"),
        ("apk", "samba-common-bin", "`apk add samba-common-tools` there"),
        (f"{OPENWRT} opkg", "samba", "`opkg update && opkg install samba4-server` there"),
        (DSM, "perl", "install Perl in the Package Center of DSM"),
        (DSM, "iperf3", "install SynoCli Network Tools of SynoCommunity in the Package Center of DSM"),
        (DSM, "fio", "look for fio in the Package Center of DSM, with the package source SynoCommunity"),
        (QTS, "perl", "install Entware by the App Center of QTS, then `/opt/bin/opkg install perl` there"),
        (f"{QTS} /opt/bin/opkg opkg", "perl", "`/opt/bin/opkg install perl` there"),
        ("midclt apt-get", "netatalk", "do without: TrueNAS takes no further programs"),
        ("/usr/builtin/bin", "fio",
         "install fio in the App Central of ADM, or Entware there and then `/opt/bin/opkg install fio`"),
        (UNRAID, "fio", "install fio by the plugin NerdTools or un-get of Unraid"),
        ("", "perl", "install what Debian calls perl there"),
    ],
)  # fmt: skip
def test_how_a_program_is_installed(signs: str, packages: str, how: str) -> None:
    host = FakeHost()
    host.on(systems.ask(), "".join(f"{sign}\n" for sign in signs.split()), times=2)
    assert how_to_install(host, packages) == how
    way, _, reason = how.partition(": ")
    either = f"leave it out: {reason}" if way == "do without" else f"{how}, or leave it out"
    assert how_to_install(host, packages, "leave it out") == either


def test_a_host_is_asked_for_files_and_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    host = EmulatedHost(tmp_path_factory.mktemp("host"), {"zypper": ""}, ("sh",))
    assert how_to_install(host, "iperf3") == "`zypper install iperf` there"
