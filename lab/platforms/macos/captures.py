"""What a Mac says of itself, for the tests: each output that one parser here reads as a whole."""

from lab.hosts.assumption import Capture
from lab.platforms.macos.disturbances import (
    FIREWALL,
    STATUS,
    parse_battery,
    parse_firewall,
    parse_load,
    parse_mdutil,
    parse_pmset,
    parse_swap,
    parse_tmutil,
)
from lab.platforms.macos.parsers import (
    HARDWARE,
    parse_hardware,
    parse_ifconfig,
    parse_images,
    parse_memory,
    parse_mtu_range,
    parse_ports,
    parse_route,
    parse_sw_vers,
)

CAPTURES = (
    Capture(name="sw_vers", ask="sw_vers", parse=parse_sw_vers),
    Capture(name="sysctl-hardware", ask=f"sysctl {' '.join(HARDWARE)}", parse=parse_hardware),
    Capture(name="route", ask='route -n get "$2"', parse=parse_route),
    Capture(name="ifconfig-v", ask='ifconfig -v "$1"', parse=parse_ifconfig),
    Capture(name="networksetup-ports", ask="networksetup -listallhardwareports", parse=parse_ports),
    Capture(name="networksetup-mtu", ask='networksetup -listvalidMTUrange "$1"', parse=parse_mtu_range),
    Capture(name="vm_stat", ask="vm_stat", parse=parse_memory),
    Capture(name="hdiutil-info", ask="hdiutil info -plist", parse=parse_images),
    Capture(name="pmset", ask="pmset -g", parse=parse_pmset),
    Capture(name="pmset-batt", ask="pmset -g batt", parse=parse_battery),
    Capture(name="tmutil", ask=STATUS, parse=parse_tmutil),
    Capture(name="mdutil", ask="mdutil -s /", parse=lambda text: parse_mdutil(text, "/")),
    Capture(name="firewall", ask=FIREWALL, parse=parse_firewall),
    Capture(name="load", ask="sysctl vm.loadavg hw.ncpu", parse=parse_load),
    Capture(name="swap", ask="sysctl vm.swapusage", parse=parse_swap),
    Capture(name="launchctl-disabled", ask="launchctl print-disabled system", parse=str, root=True, since=(10, 10)),
)
