"""One host: what it is, whether the lab may and can work there, its interface, memory and clock, what may disturb."""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from lab.base.errors import Unsupported
from lab.check.finding import Finding, Level, looked, of_error
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts, ShareConfig
from lab.platforms.findings import Noise, skew
from lab.run.pair import at_home
from lab.settings import host_journal

Look: TypeAlias = Callable[[Machine, str], Iterator[Finding]]
MIB = 2**20
SKEW_S = 2.0  # beyond it, times of files and of the report contradict one another visibly
MEMORY_SHARE = 0.9  # of what is free; a system that has nothing left begins to swap the RAM disk itself
SLOW_BITS_PER_S = 10**9
ROOT = {"none": "logged in as root", "nopasswd": "sudo without a password", "password": "sudo with a password"}
SUDOERS = "`sudo visudo -f /etc/sudoers.d/file-share-lab` there, and in it `{user} ALL=(root) {rule}`"
NO_ROOT = (
    (
        "password is required|terminal is required|no tty present",
        "give sudo = password in [{role}], or for the time of the measurements "
        + SUDOERS.replace("{rule}", "NOPASSWD: ALL"),
    ),
    ("incorrect password|try again", "the password that sudo_password in [{role}] leads to is not that of {user}"),
    ("not in the sudoers|may not run sudo|not allowed", "let {user} use sudo: " + SUDOERS.replace("{rule}", "ALL")),
    ("must have a tty", "`sudo visudo` there, and in it `Defaults:{user} !requiretty`"),
    ("", "install sudo there, or log in as root: user = root and sudo = none in [{role}]"),
)
# programs, and the package of each in Debian
NEEDED = {"perl": "perl", "iperf3": "iperf3", "ping": "iputils-ping"}
USEFUL = {"rsync": "rsync"}
# permissions may allow what macOS then refuses to whoever really looks
FOLDER = """
[ -d "$1" ] || { echo missing; exit; }
[ ! -r "$1" ] || ls "$1" >/dev/null || exit
if [ -w "$1" ]; then echo fine; else echo closed; fi
"""
SUDO = "sudo"
SHARE_PATH = "[share] path"
TUNNELS = ("utun", "tun", "tap", "ppp", "wg", "tailscale", "ipsec")


def findings(machine: Machine, config: Hosts) -> Iterator[Finding]:
    """Everything about one host. Raises HostError where the connection is lost."""
    share = config.share
    looks: dict[str, Look] = {
        "system": _system,
        SUDO: _root,
        "programs": _programs,
        "address": _address,
        "interface": _interface,
        "memory": partial(_memory, config=config),
        "folder": partial(_folders, share=share),
        "clock": _clock,
    }
    for name, look in looks.items():
        subject = f"{machine.role} {name}"
        yield from looked(subject, partial(look, machine, subject))
    yield from _noises(machine, share)


def _system(machine: Machine, subject: str) -> Iterator[Finding]:
    if facts := machine.facts:
        memory = f"{facts.memory_bytes / 2**30:.1f} GiB of memory"
        yield Finding("ok", subject, f"{facts.hostname}: {facts.os}, {facts.kernel}, {facts.cores} cores, {memory}")
        if facts.tcp_space_max:
            yield Finding("ok", subject, f"it takes TCP buffers of up to {facts.tcp_space_max} bytes (tcp_space)")


def _root(machine: Machine, subject: str) -> Iterator[Finding]:
    user = machine.host.run("id", "-un").stdout.strip()
    sudo = machine.config.sudo
    result = machine.host.run("id", "-u", root=True, check=False)
    if result.stdout.strip() == "0":
        yield Finding("ok", subject, ROOT[sudo])
    elif sudo == "none":
        message = f"sudo = none, and {user} is not root: no setting can be changed"
        remedy = f"give sudo = nopasswd or password in [{machine.role}], or user = root"
        yield Finding("problem", subject, message, remedy)
    else:
        said = (result.stderr.strip().splitlines() or [f"exit code {result.exit_code}"])[-1]
        remedy = next(remedy for sign, remedy in NO_ROOT if re.search(sign, result.stderr))
        message = f"{user} cannot become root (sudo = {sudo}): {said}"
        yield Finding("problem", subject, message, remedy.format(user=user, role=machine.role))


def use(machine: Machine, subject: str) -> Iterator[Finding]:
    """Whether another run has this host, or left it changed. Only root can tell."""
    found = host_journal.read(machine.host)
    if found.holder:
        message, _, remedy = found.holder.partition(". ")
        yield Finding("problem", subject, message.partition(": ")[2], remedy)
    elif found.records:
        names = ", ".join(record.name for record in found.records)
        remedy = "`lab restore --hosts FILE` puts it back, by what the host has noted"
        yield Finding("problem", subject, f"an ended run left it changed: {names:.300}", remedy)
    else:
        yield Finding("ok", subject, "no run uses it, and none left it changed")


def _programs(machine: Machine, subject: str) -> Iterator[Finding]:
    wanted = NEEDED | USEFUL
    lacking = machine.platform.lacking(wanted)
    for name in lacking:
        remedy = machine.platform.how_to_install(wanted[name])
        if name in NEEDED:
            yield Finding("problem", subject, f"{name} is missing: nothing can be measured without it", remedy)
        else:
            message = f"{name} is missing: the tool {name} is out, and with it the protocol ssh"
            yield Finding("warning", subject, message, remedy)
    if not lacking:
        versions = machine.facts.tools if machine.facts else {}
        known = {name: re.search(r"\d+\.\d[\d.]*", versions.get(name, "")) for name in wanted}
        said = [f"{name} {found[0]}" if found else name for name, found in known.items()]
        yield Finding("ok", subject, ", ".join(said))


def _address(machine: Machine, subject: str) -> Iterator[Finding]:
    """Whether the data address is the host's own, and on the interface that leads to the other host."""
    config, found = machine.config, machine.platform.addresses()
    if not found:
        return
    if config.interface and config.interface not in found:
        message = f"there is no interface {config.interface}; there are {', '.join(found)}"
        yield Finding("problem", subject, message, f"correct interface in [{machine.role}], or leave it out")
        return
    own = {name: [each for each in addresses if _usable(each)] for name, addresses in found.items()}
    place = next((name for name, addresses in found.items() if config.data_address in addresses), None)
    if place is None:
        has = "; ".join(f"{name} {', '.join(addresses)}" for name, addresses in own.items() if addresses)
        message = f"data_address {config.data_address} is on no interface of it: it has {has or 'only loopback'}"
        yield Finding("problem", subject, message, f"correct data_address in [{machine.role}]")
        return
    leads = machine.facts.interface if machine.facts else place
    if leads == place == (config.interface or place):
        yield Finding("ok", subject, f"{config.data_address} on {place}, which leads to the other host")
        return
    message = f"{config.data_address} is on {place}, and packets to the other host leave by {leads}"
    if config.interface:
        message += f", while interface = {config.interface}"
    remedy = "give both hosts data addresses of one network, and interface as the one that has them, or not at all"
    yield Finding("problem", subject, f"{message}: MTU and byte counts would be those of another link", remedy)


def _usable(text: str) -> bool:
    """Whether it may be a data address. IPv4 ones that two hosts on one cable give themselves (169.254) may."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return not address.is_loopback and not (address.version == 6 and address.is_link_local)


def _interface(machine: Machine, subject: str) -> Iterator[Finding]:
    facts = machine.facts
    if facts is None:
        return
    name = facts.interface
    medium, speed = machine.platform.medium(name), facts.link_bits_per_s
    said = f"{speed / 1e9:g} Gbit/s" if speed else "of unknown speed"
    worse = []
    if medium.wireless:
        worse.append(("it is wireless: its speed changes by the minute", "connect it by cable"))
    if name.startswith(TUNNELS):
        worse.append(("it is a tunnel: what is measured is its encryption", "give data_address of the network itself"))
    if medium.duplex == "half":
        worse.append(("it is in half duplex", "let both ends of the cable negotiate, or set both to full duplex"))
    if speed and speed < SLOW_BITS_PER_S and not medium.wireless:
        worse.append((f"it is at {said}", "look at cable and port: both ends should negotiate 1 Gbit/s or more"))
    for message, remedy in worse:
        yield Finding("warning", subject, f"{name}: {message}", remedy)
    if not worse:
        duplex = f", {medium.duplex} duplex" if medium.duplex else ""
        yield Finding("ok", subject, f"{name}, {said}{duplex}, MTU {facts.mtu}")


def _memory(machine: Machine, subject: str, config: Hosts) -> Iterator[Finding]:
    if machine.facts is None or (machine.role == "server" and config.share.serve == "existing"):  # no RAM disk there
        return
    try:
        machine.platform.check_ram_disk(machine.config.ram_disk_format)
    except Unsupported as error:
        yield of_error("problem", subject, error)
    free, asked = machine.facts.available_bytes, machine.config.ram_disk
    in_one_memory = config.lab.instance and config.share.serve == "lab"  # the hosts of a local lab
    needed = config.client.ram_disk + config.server.ram_disk if in_one_memory else asked
    fits = int(free * MEMORY_SHARE * asked / needed)
    both = "" if needed == asked else f", {needed / MIB:.0f} MiB with the other host's, which is in the same memory"
    message = f"ram_disk = {asked / MIB:.0f} MiB{both}; {free / MIB:.0f} MiB are free"
    if needed <= free * MEMORY_SHARE:
        yield Finding("ok", subject, message)
        return
    remedy = f"give ram_disk = {fits // MIB} MiB or less in [{machine.role}], or end what takes the memory"
    if needed <= free:
        yield Finding("warning", subject, f"{message}: with so little left it may be swapped out", remedy)
    else:
        yield Finding("problem", subject, f"{message}: it does not fit", remedy)


def _places(machine: Machine, share: ShareConfig) -> list[tuple[str, str, Level]]:
    """The folders that the lab makes its own in: key in the hosts file, path, and how bad it is if that cannot be."""
    home = machine.facts.home if machine.facts else "~"
    places: list[tuple[str, str, Level]] = [("mount_base", at_home(machine.config.mount_base, home), "problem")]
    if machine.role == "server" and share.path:
        # what the lab serves may be in RAM disks only
        level: Level = "problem" if share.serve == "existing" else "warning"
        places.append((SHARE_PATH, at_home(share.path, home), level))
    return places


def _folders(machine: Machine, subject: str, share: ShareConfig) -> Iterator[Finding]:
    for key, path, level in _places(machine, share):
        state = machine.host.shell(FOLDER, path).stdout.strip()
        if state == "fine":
            yield Finding("ok", subject, f"{path}: {machine.platform.free_bytes(path) / MIB:.0f} MiB free")
        elif state == "missing":
            message = f"{key} = {path}: there is no such folder"
            yield Finding(level, subject, message, f"make it there, or correct {key}")
        else:
            message = f"{key} = {path}: the account may not write into it"
            yield Finding(level, subject, message, f"let the account write there, or give another {key}")


def _clock(machine: Machine, subject: str) -> Iterator[Finding]:
    before = time.time()
    said = machine.platform.epoch()
    found = skew(before, said, time.time())
    message = f"{abs(found.ahead_s):.1f} s {'ahead of' if found.ahead_s > 0 else 'behind'} the controller's"
    if found.least_s <= SKEW_S:
        yield Finding("ok", subject, f"{message}, give or take {found.within_s:.1f} s")
        return
    remedy = "have it set by the network (NTP); where both hosts are off alike, it is the controller's that is wrong"
    yield Finding("warning", subject, f"{message}: times of files and of the report will contradict each other", remedy)


def _noises(machine: Machine, share: ShareConfig) -> Iterator[Finding]:
    """What would disturb a measurement; where nothing does, one line for all of it."""
    folder = {key: path for key, path, _ in _places(machine, share)}.get(SHARE_PATH)
    quiet = []
    for name, look in machine.platform.noises(folder).items():
        subject = f"{machine.role} {name}"
        found = list(looked(subject, partial(_heard, subject, look)))
        yield from found
        quiet += [] if found else [name]
    if quiet:
        yield Finding("ok", f"{machine.role} quiet", f"nothing that disturbs in {', '.join(quiet)}")


def _heard(subject: str, look: Callable[[], Sequence[Noise]]) -> Iterator[Finding]:
    for noise in look():
        yield Finding("warning" if noise.urgent else "note", subject, noise.what, noise.remedy)
