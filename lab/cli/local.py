"""`lab local`: the commands of the embedded lab."""

import argparse
from pathlib import Path

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Commands, Example, Run, add_command
from lab.cli.terminal import show
from lab.local.names import ALL_HOSTS, GUEST_BACKENDS, MOST_CLIENTS
from lab.local.platforms import emulated_mac_faults

SUMMARY = "the embedded lab: hosts on this Linux machine"
EXAMPLES_OF_UP = (
    Example("sudo lab local up", "two Linux hosts at 1 Gbit/s; then: lab check --hosts hosts.local.ini"),
    Example("sudo lab local up --name slow --rate 100mbit --delay 5ms", "another lab beside it, with a longer way"),
    Example("sudo lab local up --clients 8 --rate server=10gbit", "eight clients at 1 Gbit/s, one server at 10"),
    Example("sudo lab local up --platform client=macos@15.5", "an emulated Mac as the client"),
    Example(
        "sudo lab local up --clients 3 --platform macos@15.5 --platform server=linux",
        "three emulated Macs as clients of Linux",
    ),
    Example("sudo lab local up --kernel own --zfs", "guests with kernels of their own, and ZFS"),
    Example("sudo lab local up --kernel own --clients 3", "three guests as clients of a fourth"),
)


def add_commands(commands: Commands) -> None:
    def command(name: str, run: Run, text: str, *examples: Example) -> argparse.ArgumentParser:
        subparser = add_command(commands, name, run, text, examples)
        subparser.add_argument("--name", default="default", help="a name, for labs side by side (default: %(default)s)")
        return subparser

    def host_command(name: str, run: Run, text: str, *examples: Example) -> argparse.ArgumentParser:
        subparser = command(name, run, text, *examples)
        subparser.add_argument("host", choices=ALL_HOSTS, metavar="HOST", help="client, server, or client.2 and so on")
        return subparser

    _add_options_of_up(command("up", _up, "bring the hosts up and write their hosts file", *EXAMPLES_OF_UP))
    down = Example("sudo lab local down", "the lab that has no name")
    command("down", _down, "take the hosts down; nothing of them is left", down)
    status = Example("sudo lab local status", "each lab with its rate, delay and hosts file")
    add_command(commands, "status", _status, "say which local labs are up", [status])
    reboot = Example("sudo lab local reboot server", "as after a power failure")
    host_command("reboot", _reboot, "cut a host's power and start it again; its disk is kept", reboot)
    busy = Example("sudo lab local fault client eject-busy 2", "the next two ejections of an image fail")
    text = "make something go wrong on an emulated Mac, once or a number of times"
    fault = host_command("fault", _fault, text, busy)
    faults = sorted(emulated_mac_faults())
    fault.add_argument("fault", choices=faults or None, metavar="FAULT", help=", ".join(faults))
    fault.add_argument("times", nargs="?", type=int, default=1, help="how often (default: once); 0 switches it off")
    processes = Example("sudo lab local exec server -- ps ax", "what runs on the server")
    inside = host_command("exec", _exec, "run a command inside a host", processes)
    inside.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def _add_options_of_up(up: argparse.ArgumentParser) -> None:
    text = "the rate of each host's link, or none (default: 1gbit), or of one host: server=10gbit"
    options.add_list(up, "--rate", "[HOST=]RATE", text)
    text = f"how many clients the server has, up to {MOST_CLIENTS}; if more than one, each has its link to a switch"
    up.add_argument("--clients", type=int, default=1, metavar="N", help=text)
    up.add_argument("--delay", default="none", help="delay of the link in each direction, such as 1ms (default: none)")
    text = "linux (the default), or macos@VERSION for an emulated Mac, of all hosts or of one: client=macos@15.5"
    options.add_list(up, "--platform", "[HOST=]PLATFORM", text)
    text = "own: guests with kernels of their own, which mount SMB and NFS shares themselves (default: %(default)s)"
    up.add_argument("--kernel", choices=("shared", "own"), default="shared", help=text)
    text = "what runs such guests (default: the first of these that boots here)"
    up.add_argument("--backend", choices=GUEST_BACKENDS, default="", help=text)
    options.add_flag(up, "--zfs", "guests of kvm or tcg that have ZFS; its modules are built once, which takes minutes")


def _up(arguments: argparse.Namespace) -> int:
    from lab.local import lifecycle

    lab = lifecycle.up(
        arguments.name, arguments.rate, arguments.delay, Path.cwd(), arguments.platform,
        own_kernel=arguments.kernel == "own", backend=arguments.backend, zfs=arguments.zfs, clients=arguments.clients,
    )  # fmt: skip
    show(f"local lab {lab.name!r} is up: use it with --hosts {Path(lab.hosts_file).name}")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    from lab.local import lifecycle

    show(f"local lab {arguments.name!r} {'is down' if lifecycle.down(arguments.name) else 'was not up'}")
    return 0


def _reboot(arguments: argparse.Namespace) -> int:
    from lab.local import lifecycle

    lifecycle.reboot(arguments.name, arguments.host)
    show(f"{arguments.host} of the local lab {arguments.name!r} has been rebooted")
    return 0


def _fault(arguments: argparse.Namespace) -> int:
    from lab.local import lifecycle

    lifecycle.fault(arguments.name, arguments.host, arguments.fault, arguments.times)
    description = emulated_mac_faults()[arguments.fault]
    show(f"{arguments.host} of the local lab {arguments.name!r}, {arguments.times} times: {description}")
    return 0


def _status(_: argparse.Namespace) -> int:
    from lab.local import lifecycle, state

    state.need_root()
    for lab in state.running():
        clients = len(lab.hosts) - 1
        rates = ", ".join([lab.rate, *(f"{host} {rate}" for host, rate in lab.rates.items())])
        several = f"{clients} clients, " if clients > 1 else ""
        show(f"{lab.name}: {lifecycle.describe(lab)}, {several}rate {rates}, delay {lab.delay}, {lab.hosts_file}")
    for lab in state.ended():
        remedy = f"`lab local down --name {lab.name}` removes what is left of it, {lab.hosts_file} too"
        show(f"{lab.name}: has died; {remedy}")
    if not state.running():
        show("no local lab is up")
    return 0


def _exec(arguments: argparse.Namespace) -> int:
    from lab.local import lifecycle

    argv = arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv
    if not argv or argv[0].startswith("-"):  # an option after HOST would be taken for the command
        raise BadInput("usage: lab local exec [--name NAME] HOST -- CMD")
    return lifecycle.run_inside(arguments.name, arguments.host, argv)
