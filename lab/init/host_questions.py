"""The questions about client, server, and the login on the server."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from lab.base.errors import BadInput
from lab.hosts.fields import Address, host_name, is_loopback, user_name
from lab.hosts.ssh_target import SSH_CONFIG
from lab.init.questions import MOST_CHOICES, Choice, HostAnswer, LacksAddress, Questions
from lab.init.services import Machine
from lab.init.surroundings import Surroundings

THIS_MACHINE, NOBODY = "this machine", "nobody"
CLIENT_ITSELF = "it is the client"
TYPED = "[USER@]NAME as for ssh, then its address on the link if that differs"
ADDRESS: TypeAdapter[str] = TypeAdapter(Address)


def ask_client(questions: Questions, surroundings: Surroundings) -> HostAnswer:
    """Ask which machine mounts the share. The address of this machine is chosen later, by the server's."""

    def parse(text: str) -> HostAnswer:
        here = HostAnswer("", THIS_MACHINE, surroundings.account, "")
        return here if text == THIS_MACHINE else _parse_host(text, surroundings)

    return questions.ask("Which machine mounts the share (the client)?", _clients(surroundings), TYPED, parse)


def _clients(surroundings: Surroundings) -> list[Choice]:
    """The machines that may be the client: this one, and others with SSH."""
    usable = [own for own in surroundings.own_addresses if not (own.address.version == 6 and own.address.is_link_local)]
    family = min((own.address.version for own in usable), default=4)  # a host has many of IPv6, and some change
    addresses = ", ".join(own.label for own in usable if own.address.version == family)
    machines = [
        machine
        for machine in surroundings.machines
        if "SSH" in machine.services and not surroundings.is_among(machine.addresses)
    ]
    choices = [Choice(THIS_MACHINE, f"{THIS_MACHINE}, without SSH{f' ({addresses})' if addresses else ''}")]
    choices += [*_ssh_hosts(surroundings), *_advertised(machines, surroundings)]
    return choices[:MOST_CHOICES]


def ask_server(questions: Questions, surroundings: Surroundings, client: HostAnswer) -> HostAnswer:
    """Ask which machine has the share. It must not be the client."""
    servers = _servers(surroundings, client)
    choices = _numbered_as_before(servers, surroundings, client)
    free = [choice for choice in choices if not choice.why_not]
    by_enter = next((choice for choice in servers if choice in free), None)

    def parse(text: str) -> HostAnswer:
        server = _parse_host(text, surroundings)
        own_address = with_own_address(client, server, surroundings).address
        if own_address == server.address or (is_loopback(server.address) and not client.host):
            raise ValueError(f"{server.name} is the client itself ({server.address}): the server is another machine")
        if not own_address:
            raise ValueError(f"no way leads from here to {server.address}: is the cable in, and the address right?")
        return server

    return questions.ask("Which machine has the share (the server)?", choices, TYPED, parse, by_enter)


def _servers(surroundings: Surroundings, client: HostAnswer) -> list[Choice]:
    """The machines that advertise a service or have a share mounted here, the likeliest server first."""
    machines = [
        machine for machine in surroundings.machines if client.host or not surroundings.is_among(machine.addresses)
    ]
    mounts = {} if client.host else {mount.address: mount for mount in reversed(surroundings.mounts)}
    mounted = [
        Choice(f"{mount.server} {address}", f"{mount.server}, {address}: {mount.label} is mounted at {mount.path}")
        for address, mount in mounts.items()
    ]
    advertised = [choice for choice in _advertised(machines, surroundings) if choice not in mounted]
    return [*mounted, *advertised][:MOST_CHOICES]


def _numbered_as_before(servers: Sequence[Choice], surroundings: Surroundings, client: HostAnswer) -> list[Choice]:
    """The choices of the question about the client, with the same numbers, then the other servers.

    The client's own choice says why it cannot be taken.
    """
    for_client = _clients(surroundings)
    choices = [servers[servers.index(choice)] if choice in servers else choice for choice in for_client]
    choices += [choice for choice in servers if choice not in for_client]
    reason = "type its name or address if it has the share" if client.host else CLIENT_ITSELF
    choices[0] = Choice(THIS_MACHINE, THIS_MACHINE, reason)
    return [
        replace(choice, why_not=CLIENT_ITSELF) if choice.answer.partition(" ")[0] == client.host else choice
        for choice in choices
    ]


def with_own_address(client: HostAnswer, server: HostAnswer, surroundings: Surroundings) -> HostAnswer:
    """The client; this machine gets the address from which it sends to the server, if a route leads there."""
    if client.host:
        return client
    address = surroundings.address_towards(server.address) or ""
    return replace(client, address=address, interface=surroundings.interface_of(address))


def ask_login(questions: Questions, surroundings: Surroundings, server: HostAnswer, has_ssh: bool) -> HostAnswer:
    """Ask for the lab's login on the server; the answer has no ``host`` if nobody can log in."""
    user = server.user or surroundings.account
    nobody = Choice(NOBODY, f"{NOBODY}: it is seen from the client alone, its settings stay as they are")
    accounts = [Choice(name, name) for name in dict.fromkeys([user, "root"])]
    choices = [*accounts, nobody] if has_ssh else [nobody, *accounts]

    def parse(text: str) -> HostAnswer:
        return replace(server, host="", user="") if text == NOBODY else replace(server, user=user_name(text))

    state = "its SSH answers" if has_ssh else "its SSH does not answer"
    return questions.ask(f"Who can log in to {server.name} by SSH ({state})?", choices, "another account", parse)


def _ssh_hosts(surroundings: Surroundings) -> Iterator[Choice]:
    for name in surroundings.ssh_hosts:
        yield Choice(name, f"{name}, of {SSH_CONFIG}")


def _advertised(machines: Sequence[Machine], surroundings: Surroundings) -> Iterator[Choice]:
    """One choice for each address on a network of this machine, else for the machine's first address."""
    for machine in machines:
        services = ", ".join(machine.services)
        addresses = [address for address in machine.addresses if surroundings.interface_to(address)]
        for address in addresses or machine.addresses[:1]:
            interface = surroundings.interface_to(address)
            way = f"{address} by {interface}" if interface else address
            yield Choice(f"{machine.host} {address}", f"{machine.name}: {machine.host}, {way}: {services}")


def _parse_host(text: str, surroundings: Surroundings) -> HostAnswer:
    """Parse ``[USER@]NAME [ADDRESS]``. Raises ValueError, also for a name without an address."""
    login, *further = text.split()
    if len(further) > 1:
        raise ValueError("that is more than a name and an address")
    user, _, name = login.rpartition("@")
    if name.isdigit() and name not in surroundings.ssh_hosts:
        raise ValueError(f"{name} is a number, not the name of a host")
    try:
        options = surroundings.ssh_options(host_name(name))
    except BadInput as error:
        raise ValueError(str(error)) from error
    user = user_name(user) if user else options.get("user", "")
    address = further[0] if further else surroundings.resolve(options.get("hostname", name))
    if address is None:
        raise LacksAddress(f"this machine finds no address of {name}")
    try:
        return HostAnswer(name, name, user, ADDRESS.validate_python(address))
    except ValidationError as error:
        raise ValueError(f"{address} {error.errors()[0]['ctx']['error']}") from error
