"""A small program on a Linux host that counts several times a second while bytes move.

It runs from the beginning of a run to its end, so that no trial has to start it. What it writes is taken away after
each trial, mostly before the system has put it on a disk.
"""

from __future__ import annotations

from collections.abc import Generator

from lab.base.scripts import read_script
from lab.hosts import Host
from lab.hosts.command import shell_line
from lab.platforms.clock import whole_lines
from lab.platforms.linux import counters
from lab.platforms.readings import Reading
from lab.settings.background import background_process
from lab.settings.setting import Setting

SAMPLER = read_script(__file__, "sampler.pl")


def file_of(directory: str) -> str:
    """Where the sampler writes to, for the lab's own folder on that host."""
    return f"{directory}/samples"


def sampling(host: Host, directory: str, interface: str, peer: str) -> Generator[Setting, None, None]:
    """The sampler, which writes into the lab's own folder."""
    program, file = f"{directory}/sampler.pl", file_of(directory)
    host.shell('umask 077; cat > "$1"', program, given=SAMPLER)
    argv = ("perl", program, file, peer, counters.KEPT, *counters.list_sampled_files(interface))
    yield background_process(host.name, "sampler", argv, directory, ready=shell_line('[ -s "$1" ]', file), root=False)


def parse(text: str, interface: str) -> tuple[Reading, ...]:
    """Every reading in what the sampler wrote. Raises ValueError."""
    return tuple(counters.parse_samples(whole_lines(text), counters.list_sampled_files(interface), interface))
