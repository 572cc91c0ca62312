"""Parsers of output, captures as their input, and output of which there is no capture."""

import json
import plistlib
from collections.abc import Callable
from contextlib import suppress

from lab.base.masking import Masker
from lab.fidelity.probes import ALL as PROBES
from lab.hosts import Result
from lab.platforms import timing
from support.fake_host import LocalHost
from support.paths import LINUX_CAPTURES, MACOS_CAPTURES, RUN_CAPTURES


class Parser:
    """A parser, its input (texts, or patterns of the names of captures), and its error for any other input."""

    def __init__(self, parse: Callable[[str], object], *captures: str, error: type[Exception] | None = ValueError):
        self.parse, self.captures, self.error = parse, captures, error

    def read_or_refuse(self, text: str) -> bool:
        """Whether it reads this text; otherwise it must raise its own error."""
        with suppress(*([self.error] if self.error else [])):
            self.parse(text)
            return True
        return False

    def originals(self) -> list[bytes]:
        """Texts that it must read."""
        contents = []
        for name in self.captures:
            if not name.endswith((".txt", ".json", ".plist", ".log")):
                contents.append(name.encode())
            for folder in (LINUX_CAPTURES, MACOS_CAPTURES) if "\n" not in name else ():
                contents += [path.read_bytes() for path in sorted(folder.glob(name))]
        return contents


class Saying(LocalHost):
    def __init__(self, text: str):
        super().__init__("server")
        self.text = text

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        return Result(argv, 0, self.text, "", 0.0)


def recorded(role: str) -> str:
    """A host's own journal after an interrupted run, as the host prints it."""
    folder = RUN_CAPTURES / "interrupted" / "host-journals" / role
    lock = (folder / "lock").read_text().splitlines()
    records = "".join(path.read_text() for path in sorted(folder.glob("*-??????")))
    return f"held\n{lock[0].split()[1]}\n{lock[1]}\n{records}"


def timed(text: str) -> object:
    values = timing.values_of(text)
    return timing.parse_timing(values, 60.0, lambda _: timing.Counters(1, 1, None, None, {}))


def masked(text: str) -> str:
    masker = Masker()
    masker.learn(text)
    return masker.mask(text)


def tagged(tag: str, name: str) -> str:
    """A capture as the lines of one source among several."""
    return "".join(f"{tag}:{line}\n" for line in (MACOS_CAPTURES / name).read_text().splitlines())


SNAPSHOT = json.dumps({
    "readings": {probe.name: {"is": ["value", "0644"], "plain": ["none", ""]} for probe in PROBES}, "debris": {"._": 3}
})  # fmt: skip
FIREWALL = """\
globalstate Firewall is enabled. (State = 1)
blockall Firewall has block all state set to disabled.
stealthmode Firewall stealth mode is on
"""
TIMING = "clock monotonic\nelapsed_s 0.5\nflushed fsync\ntool_cpu_s 0.1\n"
IOSTAT = "iostat:   19.97   73  1.43   327.64    3  1.06   3  1 96  2.38 2.38 2.61\n"
MACOS_NET = (
    tagged("netstat", "netstat-en0.txt") + tagged("vm_stat", "vm_stat-16k-pages.txt") + "vm_stat:Swapouts:  10.\n"
)
PS = "ps:    1   0:07.31 launchd\nps:  402 123:45.67 smbd\n"
MACOS_SAMPLES = f"@ 1.5\n{IOSTAT}{MACOS_NET}@ 1.55\n{MACOS_NET}{PS}@ 1.6\n{IOSTAT}{MACOS_NET}"
SIZES = "sysctl:net.inet.tcp.sendspace: 65536\nsysctl:net.inet.tcp.recvspace: 131072\n"
MACOS_COUNTED = f"clock:7.25\n{MACOS_NET}{PS}{SIZES}"
IW = "\tsignal: -54 dBm\n\ttx bitrate: 866.7 MBit/s VHT-MCS 9\n wlan0: 0000   60.  -50.  -256.   0      0\n"
NETWORK = {"_name": "x", "spairport_network_rate": 866, "spairport_signal_noise": "-54 dBm / -92 dBm"}
CARDS = [{"_name": "en0", "spairport_current_network_information": NETWORK}]
AIRPORT = plistlib.dumps([{"_items": [{"spairport_airport_interfaces": CARDS}]}]).decode()
LOAD = "vm.loadavg: { 1.2 1.3 1.4 }\nhw.ncpu: 8\n"
PMSET = "System-wide power settings:\n sleep\t\t1 (sleep prevented)\n lowpowermode 0\n"
O3X = (
    "p\tashift\t12\tlocal\np\tcasesensitivity\tinsensitive\t-\np\tcompression\tlz4\tlocal\n"
    "mimic on\nversion 2.2.3-1\nimage dmg\n"
)
CASE_SENSITIVE = """<plist version="1.0"><dict>
<key>FilesystemName</key><string>Case-sensitive APFS</string></dict></plist>
"""
