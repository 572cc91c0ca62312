"""A small program on a Linux host that counts several times a second while bytes move.

It runs from the beginning of a run to its end, so that no trial has to start it. What it writes lies in memory, apart
from the RAM disks that are measured, and is taken away after each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from lab.base.scripts import read_script
from lab.hosts import Host
from lab.platforms.clock import whole_lines
from lab.platforms.linux import counters
from lab.platforms.readings import Reading
from lab.settings.background import background_process
from lab.settings.setting import Setting

SAMPLER = read_script(__file__, "sampler.pl")
IN_MEMORY = "grep -q '^[^ ]* /dev/shm tmpfs ' /proc/self/mounts && echo yes; :"


def _folder(directory: str) -> str:
    """In memory, named after the lab's own folder, which is named after the run."""
    return f"/dev/shm/{directory.rpartition('/')[2]}"


def file_of(directory: str) -> str:
    """Where the sampler writes to, for the lab's own folder on that host."""
    return f"{_folder(directory)}/samples"


def sampling(
    host: Host, directory: str, folder: Callable[[str, str], Setting], interface: str, peer: str
) -> Generator[Setting, None, None]:
    """A folder in memory, and the sampler that writes into it; nothing where the host has no such place."""
    if host.shell(IN_MEMORY).stdout.strip() != "yes":
        return
    yield folder(_folder(directory), "755")
    program, file = f"{directory}/sampler.pl", file_of(directory)
    host.shell('umask 077; cat > "$1"', program, given=SAMPLER)
    argv = ("perl", program, file, peer, counters.KEPT, *counters.list_sampled_files(interface))
    yield background_process(host.role, "sampler", argv, directory, ready=f"[ -s '{file}' ]", root=False)


def parse(text: str, interface: str) -> tuple[Reading, ...]:
    """Every reading in what the sampler wrote. Raises ValueError."""
    return tuple(counters.parse_samples(whole_lines(text), counters.list_sampled_files(interface), interface))
