"""Which variables of sysctl(3) a version of macOS has."""

from emulated_mac import profiles
from emulated_mac.kernel import sysctls


def test_sysctl_knows_no_doautosndbuf_since_11() -> None:
    known = {version: sysctls.network_variables(profiles.PROFILES[version]) for version in profiles.PROFILES}
    has = {version for version, names in known.items() if "net.inet.tcp.doautosndbuf" in names}
    assert has == {"10.9.5", "10.13.6", "10.15.7"}
    assert {version for version, names in known.items() if "net.inet.tcp.sockthreshold" in names} == {"10.6.8"}
