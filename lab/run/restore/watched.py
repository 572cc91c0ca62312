"""What the lab needs on a host to put changes back; and a server without it, which a run only watches.

A server that has its share already needs no change. So a run reads its counters by a shell, and leaves it as it is.
"""

from collections.abc import Mapping

from lab import platforms
from lab.base.errors import CommandError, DeadlineExceeded, HostLost, LabFailure, Unsupported
from lab.base.untrusted import first_line
from lab.hosts import Host, Role
from lab.hosts.hosts_file import Hosts
from lab.hosts.own_folder import OWN_FOLDER, lab_home
from lab.platforms import Platform

# Whether a host journal is there, of this account or of root: a run has the host, or left it changed
HAS_JOURNAL = OWN_FOLDER + 'find_home; [ -e "$home/journal" ] || [ -e /var/lib/file-share-lab/journal ]\n'
NO_ROOT = "`sudo = none` in [server] of the hosts file does without; else let that account use sudo"
NO_HOME = "give that account a home folder to write in"
ASKED_FOR_ROOT = ("password", "helper")  # values of sudo: the user wants root there, so without it no run begins


def check_may_change(platform: Platform) -> None:
    """Raise LabFailure if a host has no perl, no root, or no place for what a run keeps there."""
    check_perl(platform)
    platform.host.run("true", root=True)
    lab_home(platform.host)


def check_perl(platform: Platform) -> None:
    """Raise Unsupported if a host has no perl."""
    if platform.programs.missing(["perl"]):
        message = "perl is missing, which puts back what a run changes"
        raise Unsupported(message, platform.programs.how_to_install("perl"), host=platform.host.name)


def fitted(config: Hosts, hosts: Mapping[str, Host]) -> Hosts:
    """The hosts as a run can use them; changes nothing. Raises HostError if the connection is lost."""
    return fitted_to(config, platforms.detect(hosts[Role.SERVER])) if Role.SERVER in hosts else config


def fitted_to(config: Hosts, server: Platform) -> Hosts:
    """The hosts with a server that is only watched, if it has its share already and nothing could be put back there.

    Without an iperf3 there, the link is not measured. A server with a host journal is never only watched, because what
    an earlier run left there would be passed over.
    """
    if config.share.serve != "existing" or not server.clock.watches:
        return config
    if server.host.shell(HAS_JOURNAL, check=False).exit_code == 0:
        return config
    try:
        check_perl(server)
        if config.server.sudo not in ASKED_FOR_ROOT:
            check_may_change(server)
            server.files.rehearse_the_end()
    except (HostLost, DeadlineExceeded):
        raise
    except CommandError as error:
        last = first_line(error.output.strip().rpartition("\n")[2])
        if error.argv == ("true",):
            return _watching(config, f"its account gets no root: {last}", NO_ROOT)
        return _watching(config, f"it has no place for the lab's own folder: {last}", NO_HOME)
    except LabFailure as error:
        return _watching(config, error.cause(), error.remedy)
    if config.server.iperf3 is None and server.programs.missing(["iperf3"]):
        return config.model_copy(update={"server": config.server.model_copy(update={"iperf3": "off"})})
    return config


def _watching(config: Hosts, why: str, remedy: str) -> Hosts:
    return config.watching(LabFailure(f"the server is only watched ({why})", remedy))


def describe_watched(why: LabFailure) -> tuple[str, str]:
    """Why the server is only watched and what that costs; and what would help."""
    costs = "it is counted before and after each transfer, its settings stay, and no lock there keeps another run out"
    return f"{why.message}: {costs}", why.remedy
