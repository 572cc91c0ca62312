"""The check of one host: system, root, programs, address, interface, memory, folders, clock, and disturbances."""

import ipaddress
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from lab.base.addresses import without_zone
from lab.base.errors import LabFailure, Unsupported
from lab.base.untrusted import first_line
from lab.check import programs
from lab.check.finding import Finding, Level, examine, of_error
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts, ShareConfig
from lab.hosts.own_folder import LOOK_AT_HOME, OWN_FOLDER
from lab.platforms.files import NOT_TOLD
from lab.platforms.preflight import Disturbance, skew
from lab.root_helper import program as root_helper
from lab.run.case.pair import at_home
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal

Check: TypeAlias = Callable[[Machine, str], Iterator[Finding]]
MIB = 2**20
SKEW_S = 2.0  # with a larger skew, times of files visibly contradict times of the report
MEMORY_SHARE = 0.9  # of the free memory; a system without free memory swaps the RAM disk
SLOW_BITS_PER_S = 10**9
ROOT = {
    "none": "logged in as root", "nopasswd": "sudo without a password", "password": "sudo with a password",
    "helper": "sudo of the lab's helper alone",
}  # fmt: skip
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
# macOS may refuse what permissions allow, so the script tries it
FOLDER = """
[ -d "$1" ] || { echo missing; exit; }
[ ! -r "$1" ] || ls "$1" >/dev/null || exit
[ -w "$1" ] || { echo closed; exit; }
if cd -P "$1" && (stands_firm "$2"); then echo fine; else echo open; fi
"""
OPEN = "others can write into it or a folder above it"
WRONG_FOLDER = {
    "missing": ("there is no such folder", "make it there, or correct {key}"),
    "open": (OPEN, "`chmod o-w,g-w` or `chmod +t` there, or give another {key}"),
    "open share": (OPEN, "leave {key} out, and the lab makes its files through the share; or `chmod +t` there"),
    "closed": ("the account may not write into it", "let the account write there, or give another {key}"),
}
SUDO = "sudo"
NOT_WATCHED = (SUDO, "programs", "memory", "folder", "way back")
SHARE_PATH = "[share] path"


def findings(machine: Machine, config: Hosts) -> Iterator[Finding]:
    """All findings about one host. Raises HostError if the connection is lost."""
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
        "way back": _check_way_back,
        "clock": _check_clock,
    }
    if machine.watched:  # a run needs none of this there
        checks = {name: check for name, check in checks.items() if name not in NOT_WATCHED}
    for name, check in checks.items():
        subject = f"{machine.role} {name}"
        yield from examine(subject, partial(check, machine, subject))
    yield from _check_disturbances(machine, share)


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
    """Whether a run uses this host, or left it changed. Only root can tell."""
    journal = host_journal.read(machine.host, line_format())
    if journal.in_use:
        yield of_error("problem", subject, journal.in_use)
    elif journal.records:
        names = ", ".join(record.name for record in journal.records)
        remedy = "`lab restore --hosts FILE` restores it by the host's own journal"
        yield Finding("problem", subject, f"an ended run left it changed: {names:.300}", remedy)
    else:
        yield Finding("ok", subject, "no run uses it, and none left it changed")


def _check_address(machine: Machine, subject: str) -> Iterator[Finding]:
    """Whether the host has the data address, on the interface that leads to the other host."""
    config, interfaces = machine.config, machine.platform.network.addresses()
    if not interfaces:
        return
    if config.interface and config.interface not in interfaces:
        message = f"there is no interface {config.interface}; there are {', '.join(interfaces)}"
        yield Finding("problem", subject, message, f"correct interface in [{machine.role}], or leave it out")
        return
    bare = without_zone(config.data_address)
    holder = next((name for name, addresses in interfaces.items() if bare in addresses), None)
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
    """Whether it may be a data address, such as an IPv4 address that a host gives itself (169.254)."""
    address = ipaddress.ip_address(text)
    return not address.is_loopback and not (address.version == 6 and address.is_link_local)


def _check_interface(machine: Machine, subject: str) -> Iterator[Finding]:
    if (facts := machine.facts) is None:
        return
    name = facts.interface
    medium, speed = machine.platform.network.medium(name), facts.link_bits_per_s
    speed_label = f"{speed / 1e9:g} Gbit/s" if speed else "of unknown speed"
    drawbacks = {}
    if medium.wireless:
        drawbacks["it is wireless: its speed changes by the minute"] = "connect it by cable"
    if machine.platform.network.is_tunnel(name):
        drawbacks["it is a tunnel: what is measured is its encryption"] = "give data_address of the network itself"
    if medium.duplex == "half":
        drawbacks["it is in half duplex"] = "let both ends of the cable negotiate, or set both to full duplex"
    if speed and speed < SLOW_BITS_PER_S and not medium.wireless:
        drawbacks[f"it is at {speed_label}"] = "look at cable and port: both ends should negotiate 1 Gbit/s or more"
    for message, remedy in drawbacks.items():
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
    disks = [size]
    ours = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if config.lab.instance is not None and machine.facts.memory_bytes == ours:
        # the hosts of a local lab share this machine's memory, but guests have their own
        hosts = [*config.clients.values(), *([config.server] if config.share.serve == "lab" else [])]
        disks = [host.ram_disk for host in hosts]
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


def _places(machine: Machine, share: ShareConfig) -> list[tuple[str, str, Level]]:
    """The parents of the lab's own folders: key in the hosts file, path, and level of a finding."""
    home = machine.facts.home if machine.facts else "~"
    places: list[tuple[str, str, Level]] = []
    if machine.config.mount_base:
        places.append(("mount_base", at_home(machine.config.mount_base, home), "problem"))
    if machine.role == "server" and share.path:
        # the lab needs no folder if it serves RAM disks only
        level: Level = "problem" if share.serve == "existing" else "warning"
        places.append((SHARE_PATH, at_home(share.path, home), level))
    return places


def _check_folders(machine: Machine, subject: str, share: ShareConfig) -> Iterator[Finding]:
    if not machine.config.mount_base and not machine.no_root:
        yield _check_home(machine, subject)
    for key, path, level in _places(machine, share):
        owners = "us" if key == "mount_base" else "any"
        state = machine.host.shell(OWN_FOLDER + FOLDER, path, owners).stdout.strip()
        if state == "open" and key == SHARE_PATH and share.serve == "existing":  # as most NAS make their shares
            state = "open share"
        if state == "fine":
            yield Finding("ok", subject, f"{path}: {_free(machine, path)}")
        else:
            message, remedy = WRONG_FOLDER.get(state, WRONG_FOLDER["closed"])
            yield Finding(level, subject, f"{key} = {path}: {message}", remedy.format(key=key))


def _check_home(machine: Machine, subject: str) -> Finding:
    """The lab's own folder if the hosts file names none."""
    state, _, home = machine.host.shell(LOOK_AT_HOME, root=True).stdout.rstrip("\n").partition("\n")
    if state != "fine":
        message = f"{first_line(home)}: not the lab's own, or others can write into a folder above it"
        return Finding("problem", subject, message, "remove it if it is nobody's, and `chmod o-w,g-w` what is above it")
    above = home.rpartition("/")[0].removesuffix("/.local")  # which may not be there yet
    return Finding("ok", subject, f"{first_line(home)}: {_free(machine, above)}")


def _free(machine: Machine, path: str) -> str:
    free = machine.platform.files.free_bytes(path)
    return f"{free / MIB:.0f} MiB free" if free < NOT_TOLD else "it does not say how much is free"


def _check_way_back(machine: Machine, subject: str) -> Iterator[Finding]:
    """Whether what a run makes can be removed again, tried in a scratch folder."""
    if machine.facts and "perl" in machine.facts.tools:
        machine.platform.files.rehearse_the_end()
        yield Finding("ok", subject, "a process was ended and a folder removed, as at the end of a run")


def _check_clock(machine: Machine, subject: str) -> Iterator[Finding]:
    before = time.time()
    offset = skew(before, machine.platform.preflight.epoch(), time.time())
    message = f"{abs(offset.ahead_s):.1f} s {'ahead of' if offset.ahead_s > 0 else 'behind'} the controller's"
    if offset.least_s <= SKEW_S:
        yield Finding("ok", subject, f"{message}, give or take {offset.within_s:.1f} s")
        return
    remedy = "set it by the network (NTP); if both hosts are off by the same time, the controller's clock is wrong"
    yield Finding("warning", subject, f"{message}: times of files and of the report will contradict each other", remedy)


def _check_disturbances(machine: Machine, share: ShareConfig) -> Iterator[Finding]:
    """What would disturb a measurement, and one line for all that would not."""
    folder = {key: path for key, path, _ in _places(machine, share)}.get(SHARE_PATH)
    quiet = []
    for name, listen in machine.platform.preflight.disturbances(folder).items():
        subject = f"{machine.role} {name}"
        findings = list(examine(subject, partial(_disturbances, subject, listen)))
        yield from findings
        quiet += [] if findings else [name]
    if quiet:
        yield Finding("ok", f"{machine.role} quiet", f"nothing that disturbs in {', '.join(quiet)}")


def _disturbances(subject: str, listen: Callable[[], Sequence[Disturbance]]) -> Iterator[Finding]:
    for disturbance in listen():
        level: Level = "warning" if disturbance.urgent else "note"
        yield Finding(level, subject, disturbance.what, disturbance.remedy)
