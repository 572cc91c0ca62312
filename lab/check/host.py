"""The check of one host: system, rights, programs, address, interface, memory, folders, clock, and what may disturb."""

import ipaddress
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from lab.base.errors import LabFailure, Unsupported
from lab.base.untrusted import first_line
from lab.check import programs
from lab.check.finding import Finding, Level, examine, of_error
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts, ShareConfig
from lab.hosts.own_folder import LOOK_AT_HOME, OWN_FOLDER
from lab.platforms.facts import Facts
from lab.platforms.preflight import Disturbance, skew
from lab.root_helper import program as root_helper
from lab.run.case.pair import at_home
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal

Check: TypeAlias = Callable[[Machine, str], Iterator[Finding]]
MIB = 2**20
SKEW_S = 2.0  # beyond it, times of files and of the report contradict one another visibly
MEMORY_SHARE = 0.9  # of what is free; a system that has nothing left begins to swap the RAM disk itself
SLOW_BITS_PER_S = 10**9
ROOT = {
    "none": "logged in as root",
    "nopasswd": "sudo without a password",
    "password": "sudo with a password",
    "helper": "sudo of the lab's helper alone",
}
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
# permissions may allow what macOS then refuses to whoever really looks
FOLDER = """
[ -d "$1" ] || { echo missing; exit; }
[ ! -r "$1" ] || ls "$1" >/dev/null || exit
[ -w "$1" ] || { echo closed; exit; }
if cd -P "$1" && (stands_firm "$2"); then echo fine; else echo open; fi
"""
SUDO = "sudo"
SHARE_PATH = "[share] path"


def findings(machine: Machine, config: Hosts) -> Iterator[Finding]:
    """Everything about one host. Raises HostError where the connection is lost."""
    share = config.share
    checks: dict[str, Check] = {
        "system": _check_system,
        SUDO: partial(_check_root, config=config),
        "programs": partial(programs.check, measures_link=config.measures_link),
        "extra programs": programs.check_extras,
        "address": _check_address,
        "interface": _check_interface,
        "memory": partial(_check_memory, config=config),
        "folder": partial(_check_folders, share=share),
        "clock": _check_clock,
    }
    for name, check in checks.items():
        subject = f"{machine.role} {name}"
        yield from examine(subject, partial(check, machine, subject))
    yield from _check_noise(machine, share)


def _check_system(machine: Machine, subject: str) -> Iterator[Finding]:
    if facts := machine.facts:
        memory = f"{facts.memory_bytes / 2**30:.1f} GiB of memory"
        yield Finding("ok", subject, f"{facts.hostname}: {facts.os}, {facts.kernel}, {facts.cores} cores, {memory}")
        if facts.tcp_space_max:
            yield Finding("ok", subject, f"it takes TCP buffers of up to {facts.tcp_space_max} bytes (tcp_space)")


def _check_root(machine: Machine, subject: str, config: Hosts) -> Iterator[Finding]:
    user = machine.host.run("id", "-un").stdout.strip()
    sudo = machine.config.sudo
    result = machine.host.run("id", "-u", root=True, check=False)
    if result.stdout.strip() == "0":
        try:
            root_helper.check_installed(machine.host)
        except LabFailure as error:
            yield of_error("problem", subject, error)
        else:
            yield Finding("ok", subject, ROOT[sudo])
    elif sudo == "helper":
        message = f"{user} cannot run the lab's helper as root: {first_line(result.stderr.strip()) or result.exit_code}"
        yield Finding("problem", subject, message, f"`lab host install {machine.role}`")
    elif sudo == "none" and not config.may_tune(machine.role):
        machine.host.lacks_root = True
        yield Finding("note", subject, f"sudo = none, and {user} is not root: nothing is changed there")
    elif sudo == "none":
        message = f"sudo = none, and {user} is not root: no setting can be changed"
        remedy = f"give sudo = nopasswd or password in [{machine.role}], or user = root"
        yield Finding("problem", subject, message, remedy)
    else:
        last_line = (result.stderr.strip().splitlines() or [f"exit code {result.exit_code}"])[-1]
        remedy = next(remedy for pattern, remedy in NO_ROOT if re.search(pattern, result.stderr))
        message = f"{user} cannot become root (sudo = {sudo}): {last_line}"
        yield Finding("problem", subject, message, remedy.format(user=user, role=machine.role))


def check_use(machine: Machine, subject: str) -> Iterator[Finding]:
    """Whether another run has this host, or left it changed. Only root can tell."""
    journal = host_journal.read(machine.host, line_format())
    if journal.in_use:
        yield of_error("problem", subject, journal.in_use)
    elif journal.records:
        names = ", ".join(record.name for record in journal.records)
        remedy = "`lab restore --hosts FILE` puts it back, by what the host has noted"
        yield Finding("problem", subject, f"an ended run left it changed: {names:.300}", remedy)
    else:
        yield Finding("ok", subject, "no run uses it, and none left it changed")


def _check_address(machine: Machine, subject: str) -> Iterator[Finding]:
    """Whether the data address is the host's own, and on the interface that leads to the other host."""
    config, interfaces = machine.config, machine.platform.network.addresses()
    if not interfaces:
        return
    if config.interface and config.interface not in interfaces:
        message = f"there is no interface {config.interface}; there are {', '.join(interfaces)}"
        yield Finding("problem", subject, message, f"correct interface in [{machine.role}], or leave it out")
        return
    holder = next((name for name, addresses in interfaces.items() if config.data_address in addresses), None)
    if holder is None:
        usable = {name: ", ".join(filter(_is_usable, addresses)) for name, addresses in interfaces.items()}
        choice = "; ".join(f"{name} {addresses}" for name, addresses in usable.items() if addresses)
        message = f"data_address {config.data_address} is on no interface of it: it has {choice or 'only loopback'}"
        yield Finding("problem", subject, message, f"correct data_address in [{machine.role}]")
        return
    route = machine.facts.interface if machine.facts else holder
    if route == holder == (config.interface or holder):
        yield Finding("ok", subject, f"{config.data_address} on {holder}, which leads to the other host")
        return
    message = f"{config.data_address} is on {holder}, and packets to the other host leave by {route}"
    if config.interface:
        message += f", while interface = {config.interface}"
    remedy = "give both hosts data addresses of one network, and interface as the one that has them, or not at all"
    yield Finding("problem", subject, f"{message}: MTU and byte counts would be those of another link", remedy)


def _is_usable(text: str) -> bool:
    """Whether it may be a data address. IPv4 ones that two hosts on one cable give themselves (169.254) may."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return not address.is_loopback and not (address.version == 6 and address.is_link_local)


def _check_interface(machine: Machine, subject: str) -> Iterator[Finding]:
    facts = machine.facts
    if facts is None:
        return
    name = facts.interface
    medium, speed = machine.platform.network.medium(name), facts.link_bits_per_s
    speed_label = f"{speed / 1e9:g} Gbit/s" if speed else "of unknown speed"
    drawbacks = []
    if medium.wireless:
        drawbacks.append(("it is wireless: its speed changes by the minute", "connect it by cable"))
    if machine.platform.network.is_tunnel(name):
        drawbacks.append(
            ("it is a tunnel: what is measured is its encryption", "give data_address of the network itself")
        )
    if medium.duplex == "half":
        drawbacks.append(("it is in half duplex", "let both ends of the cable negotiate, or set both to full duplex"))
    if speed and speed < SLOW_BITS_PER_S and not medium.wireless:
        drawbacks.append(
            (f"it is at {speed_label}", "look at cable and port: both ends should negotiate 1 Gbit/s or more")
        )
    for message, remedy in drawbacks:
        yield Finding("warning", subject, f"{name}: {message}", remedy)
    if not drawbacks:
        duplex = f", {medium.duplex} duplex" if medium.duplex else ""
        yield Finding("ok", subject, f"{name}, {speed_label}{duplex}, MTU {facts.mtu}")


def _check_memory(machine: Machine, subject: str, config: Hosts) -> Iterator[Finding]:
    if machine.facts is None or (machine.role == "server" and config.share.serve == "existing"):  # no RAM disk there
        return
    try:
        machine.platform.ram_disks.check(machine.config.ram_disk_format)
    except Unsupported as error:
        yield of_error("problem", subject, error)
    free, size = machine.facts.available_bytes, machine.config.ram_disk
    disks = _disks_in_one_memory(config) if _is_in_our_memory(machine.facts, config) else [size]
    needed = sum(disks)
    fits = int(free * MEMORY_SHARE * size / needed)
    others = "the other host's, which is" if len(disks) == 2 else f"those of {len(disks) - 1} other hosts, which are"
    all_of_them = "" if len(disks) == 1 else f", {needed / MIB:.0f} MiB with {others} in the same memory"
    message = f"ram_disk = {size / MIB:.0f} MiB{all_of_them}; {free / MIB:.0f} MiB are free"
    if needed <= free * MEMORY_SHARE:
        yield Finding("ok", subject, message)
        return
    remedy = f"give ram_disk = {fits // MIB} MiB or less in [{machine.role}], or end what takes the memory"
    if needed <= free:
        yield Finding("warning", subject, f"{message}: with so little left it may be swapped out", remedy)
    else:
        yield Finding("problem", subject, f"{message}: it does not fit", remedy)


def _is_in_our_memory(facts: Facts, config: Hosts) -> bool:
    """Whether this is a host of a local lab, and no guest, which has a memory of its own."""
    ours = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return config.lab.instance is not None and facts.memory_bytes == ours


def _disks_in_one_memory(config: Hosts) -> list[int]:
    """The bytes of each RAM disk of such a lab."""
    hosts = [*config.clients.values(), *([config.server] if config.share.serve == "lab" else [])]
    return [host.ram_disk for host in hosts]


def _places(machine: Machine, share: ShareConfig) -> list[tuple[str, str, Level]]:
    """The folders that the lab makes its own in: key in the hosts file, path, and how bad it is if that cannot be."""
    home = machine.facts.home if machine.facts else "~"
    places: list[tuple[str, str, Level]] = []
    if machine.config.mount_base:
        places.append(("mount_base", at_home(machine.config.mount_base, home), "problem"))
    if machine.role == "server" and share.path:
        # where the lab serves RAM disks only, it needs no folder
        level: Level = "problem" if share.serve == "existing" else "warning"
        places.append((SHARE_PATH, at_home(share.path, home), level))
    return places


def _check_folders(machine: Machine, subject: str, share: ShareConfig) -> Iterator[Finding]:
    if not machine.config.mount_base and not machine.no_root:
        yield _check_home(machine, subject)
    for key, path, level in _places(machine, share):
        owners = "us" if key == "mount_base" else "any"
        state = machine.host.shell(OWN_FOLDER + FOLDER, path, owners).stdout.strip()
        if state == "fine":
            yield Finding("ok", subject, f"{path}: {machine.platform.files.free_bytes(path) / MIB:.0f} MiB free")
        elif state == "missing":
            message = f"{key} = {path}: there is no such folder"
            yield Finding(level, subject, message, f"make it there, or correct {key}")
        elif state == "open":
            message = f"{key} = {path}: others can write into it or a folder above it"
            yield Finding(level, subject, message, f"`chmod o-w,g-w` or `chmod +t` there, or give another {key}")
        else:
            message = f"{key} = {path}: the account may not write into it"
            yield Finding(level, subject, message, f"let the account write there, or give another {key}")


def _check_home(machine: Machine, subject: str) -> Finding:
    """The folder that the lab makes its own in where the hosts file names none."""
    state, _, home = machine.host.shell(LOOK_AT_HOME, root=True).stdout.rstrip("\n").partition("\n")
    if state != "fine":
        message = f"{first_line(home)}: not the lab's own, or others can write into a folder above it"
        return Finding("problem", subject, message, "remove it if it is nobody's, and `chmod o-w,g-w` what is above it")
    free = machine.platform.files.free_bytes(home.rpartition("/")[0]) / MIB
    return Finding("ok", subject, f"{first_line(home)}: {free:.0f} MiB free")


def _check_clock(machine: Machine, subject: str) -> Iterator[Finding]:
    before = time.time()
    host_time = machine.platform.preflight.epoch()
    offset = skew(before, host_time, time.time())
    message = f"{abs(offset.ahead_s):.1f} s {'ahead of' if offset.ahead_s > 0 else 'behind'} the controller's"
    if offset.least_s <= SKEW_S:
        yield Finding("ok", subject, f"{message}, give or take {offset.within_s:.1f} s")
        return
    remedy = "have it set by the network (NTP); where both hosts are off alike, it is the controller's that is wrong"
    yield Finding("warning", subject, f"{message}: times of files and of the report will contradict each other", remedy)


def _check_noise(machine: Machine, share: ShareConfig) -> Iterator[Finding]:
    """What would disturb a measurement; where nothing does, one line for all of it."""
    folder = {key: path for key, path, _ in _places(machine, share)}.get(SHARE_PATH)
    quiet = []
    for name, listen in machine.platform.preflight.disturbances(folder).items():
        subject = f"{machine.role} {name}"
        findings = list(examine(subject, partial(_noise_findings, subject, listen)))
        yield from findings
        quiet += [] if findings else [name]
    if quiet:
        yield Finding("ok", f"{machine.role} quiet", f"nothing that disturbs in {', '.join(quiet)}")


def _noise_findings(subject: str, listen: Callable[[], Sequence[Disturbance]]) -> Iterator[Finding]:
    for noise in listen():
        yield Finding("warning" if noise.urgent else "note", subject, noise.what, noise.remedy)
