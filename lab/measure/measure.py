"""Measure a share from this machine: find out what a run needs, and start one."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lab.base.errors import BadInput, LabFailure, RestoreError
from lab.base.untrusted import one_line
from lab.design.sweep_file import RUN_NAME
from lab.hosts import Role
from lab.hosts.fields import IPERF3_PORT, password_source
from lab.hosts.host_config import HostConfig
from lab.hosts.hosts_file import Hosts
from lab.hosts.passwords import NoPassword
from lab.hosts.ssh import SshHost
from lab.measure.failure import in_words_of_user, without_own_paths
from lab.measure.run_of_share import MIB, MOST_RAM, hosts_of, keep_hosts, run_name, sweep_of, tools
from lab.measure.subject import Subject, find_subject, local_platform
from lab.measure.target import parse_target
from lab.platforms import Facts, Platform
from lab.platforms.ram_disk import FOLDER
from lab.results.one_sided import ClientLink, MeasuredShare, share_of
from lab.results.run_folder import RunFolder
from lab.run import lifecycle
from lab.run.begin.payload_size import PILOT_BYTES
from lab.run.lifecycle import Supervision
from lab.run.runner import Ending, Progress
from lab.settings.register import OpenRun, Register, describe_hosts, state_folder

LEAST_RAM = 64 * MIB
SHARE_OF_MEMORY = 0.25
MOST_FAILURES = 4  # in a row: the least number of trials in a block
ASKS = "leave this option out, and the lab asks"
SHM = "/dev/shm"  # noqa: S108 – the lab makes a folder of its own there, with an unguessable name


@dataclass(frozen=True)
class Wish:
    """The options of `lab measure`."""

    target: str
    login: str = ""
    password: str = "prompt"  # noqa: S105 – where it comes from
    saved_as: str = ""


def measure(wish: Wish, results: Path, supervision: Supervision) -> tuple[RunFolder, Ending]:
    """Measure into a new run folder; returns it and how the run ended. Raises as :func:`lab.run.lifecycle.start`."""
    check_series(wish.saved_as)
    check_password(wish.password)
    platform = local_platform()
    if not shutil.which("perl"):
        raise BadInput("this machine has no perl, by which the lab measures", "install the package perl")
    subject = find_subject(parse_target(wish.target), platform, wish.login)
    if not tools(subject):
        message = f"{subject.target}: over SSH it takes rsync, and there is none here"
        raise BadInput(message, "install it, or mount a share")
    check_results(subject, results)
    link = read_link(platform, subject.facts)
    if remark := tunnel_remark(link):
        supervision.tell(f"warning: {remark}")
    place, room = find_room(platform, subject.facts.available_bytes)
    reword = partial(in_words_of_user, wish.target, subject, platform)
    try:
        iperf3 = _find_iperf3(subject, platform)
    except LabFailure as error:
        raise reword(error) from error
    config = keep_hosts(hosts_of(subject, place, room, iperf3, wish.password), state_folder())
    sweep, text = sweep_of(subject, wish.saved_as or run_name(subject))
    share = MeasuredShare(
        protocol=subject.protocol, server=subject.server, share=subject.share, path=subject.mounted or subject.folder,
        mounted_by="somebody" if subject.mounted else "lab",
    )  # fmt: skip
    saved = {"saved_as": wish.saved_as} if wish.saved_as else {}
    about = {"target": share.to_json(), "link": link.to_json(), **saved}
    is_beside = not any(_is_of_share(run, config, share) for run in Register().open_runs()[0])
    watched = replace(
        supervision, is_beside=is_beside, most_failures=MOST_FAILURES, watch=in_short(supervision.watch), reword=reword
    )  # fmt: skip
    try:
        folder, ending = lifecycle.begin(config, sweep, text, results, watched, about)
    except NoPassword as error:
        raise BadInput(f"--password {wish.password}: {error.why.message}", error.why.remedy or ASKS) from error
    except RestoreError as error:
        if not isinstance(first := error.failed_before(), LabFailure):
            raise
        raise LabFailure(f"{reword(first).brief()}\n{error.of_the_restore()}", several=True) from error
    except LabFailure as error:
        raise reword(error) from error
    if ending.failure and not any(trial.status == "ok" for trial in folder.trials()):
        needed = folder.run.get("payload_bytes") or PILOT_BYTES
        raise reword(ending.failure, needed) from ending.failure
    return folder, ending


def _is_of_share(run: OpenRun, config: Hosts, share: MeasuredShare) -> bool:
    """Whether an open run used this server, and as far as is known this share of it."""
    other = MeasuredShare()
    with suppress(BadInput, OSError):
        other = share_of(RunFolder(Path(run.folder)).run)
    is_share = (other.protocol or share.protocol, other.share or share.share) == (share.protocol, share.share)
    return is_share and run.hosts.get(Role.SERVER) == describe_hosts(config)[Role.SERVER]


def in_short(watch: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """Report a failed trial without the paths of the lab's own files."""

    def watch_in_short(progress: Progress) -> None:
        trial = progress.trial
        watch(replace(progress, trial=trial and replace(trial, reason=without_own_paths(trial.reason))))

    return watch_in_short


def check_series(name: str) -> None:
    """Raise BadInput for a name that no series of saved runs can have."""
    if name and not re.fullmatch(RUN_NAME, name):
        remedy = "give 1 to 64 letters or digits, with dots, _ or - between them"
        raise BadInput(f"--save {one_line(name, 80)}: no name of a series", remedy)


def check_password(source: str) -> None:
    """Raise BadInput for a source that can give no password."""
    try:
        password_source(source)
    except ValueError:  # the message must not repeat the text, which may be a password
        sources = "prompt, env:VARIABLE, file:PATH, keyring:SERVICE"
        raise BadInput(f"--password: takes no password, but where to find it: {sources}", ASKS) from None


def check_results(subject: Subject, results: Path) -> None:
    """Raise BadInput if the run would be kept on the share that it measures."""
    folder = next(path for path in (results.absolute(), *results.absolute().parents) if path.exists())
    if subject.mounted and folder.stat().st_dev == Path(subject.mounted).stat().st_dev:
        message = f"{one_line(str(results.absolute()), 200)} is on the share itself, and what is kept there would count"
        raise BadInput(message, "go to a folder on a disk of this machine, or name one by --results")


def read_link(platform: Platform, facts: Facts) -> ClientLink:
    """This machine's end of the link. Raises LabFailure."""
    network, interface = platform.network, facts.interface
    medium = network.medium(interface)
    speed = None if medium.virtual else facts.link_bits_per_s
    speed = speed or (network.radio(interface).bits_per_s if medium.wireless else None)
    kind = None if medium.wireless is None else "wireless" if medium.wireless else "wired"
    return ClientLink(
        interface=interface, bits_per_s=speed, duplex=medium.duplex, medium=kind, mtu=facts.mtu,
        tunnel=network.is_tunnel(interface),
    )  # fmt: skip


def tunnel_remark(link: ClientLink) -> str:
    """A warning about a VPN on the way to the server, or an empty text."""
    tunnel = f"a tunnel, such as a VPN ({link.interface}): its encryption is measured with it"
    return f"the way to the server is {tunnel}" if link.tunnel else ""


def find_room(platform: Platform, available_bytes: int) -> tuple[str, int]:
    """Where this machine keeps files, in memory if possible, and how many bytes there are for them. Raises BadInput."""
    memory = int(available_bytes * SHARE_OF_MEMORY)
    if platform.name == "linux" and os.access(SHM, os.W_OK):
        room = min(platform.files.free_bytes(SHM), memory, MOST_RAM)
        if room >= LEAST_RAM:
            return "shm", room
    home = str(Path.home())
    room = min(platform.files.free_bytes(home) // 2, MOST_RAM)
    if room < LEAST_RAM // 2:
        message = f"the disk of this machine with {one_line(home, 80)} has only {2 * room / 1e6:.0f} MB free"
        raise BadInput(message, f"make room there: a test needs {LEAST_RAM / 1e6:.0f} MB")
    return FOLDER, room


def _find_iperf3(subject: Subject, platform: Platform) -> str:
    """The key ``iperf3`` of the server, by which the link is measured, or ``off``."""
    if "iperf3" not in subject.facts.tools:
        return "off"
    if subject.login:
        user, _, host = subject.login.rpartition("@")
        config = HostConfig(host=host, user=user or None, sudo="none", data_address=subject.address)
        with closing(SshHost("server", config)) as server:
            return "" if server.shell("command -v iperf3", check=False).exit_code == 0 else "off"
    return f"[{subject.address}]:{IPERF3_PORT}" if platform.network.answers(subject.address, IPERF3_PORT) else "off"
