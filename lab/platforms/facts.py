"""Facts about a host, and the parser of the scripts that print them."""

from dataclasses import dataclass, field

from lab.base.untrusted import count, first_line
from lab.hosts.fields import absolute, user_name
from lab.platforms.timing import field_of

TOOLS = ("perl", "rsync", "iperf3", "ssh")
IDENTITY = ("hostname", "kernel", "user", "uid", "home", "end")


@dataclass(frozen=True)
class Facts:
    """Facts about a host. A field is None if the system does not tell."""

    hostname: str
    """What the host calls itself."""
    platform: str
    """The platform of the lab that fits it, such as ``linux`` or ``macos``."""
    os: str
    """Name and version of the system."""
    kernel: str
    """Name and version of the kernel."""
    cpu: str
    """The processor, in the system's words."""
    cores: int
    """The cores that are online."""
    memory_bytes: int
    """All memory."""
    available_bytes: int
    """What programs could get without swapping."""
    user: str
    """The account that logged in."""
    is_root: bool
    """Whether the account is root."""
    home: str
    """The account's home folder."""
    interface: str
    """The interface that leads to the other host."""
    mtu: int
    """The MTU of that interface before the run."""
    mtu_min: int | None = None
    """The least that the interface says it takes."""
    mtu_max: int | None = None
    """The most that the interface says it takes."""
    link_bits_per_s: int | None = None
    """The speed that the interface names."""
    tools: dict[str, str] = field(default_factory=dict)
    """The programs that were found, with what they say of their version."""
    tcp_space_max: int | None = None
    """The largest TCP buffer that the system takes, in bytes; null: no limit is known."""
    congestion: str | None = None
    """TCP's congestion control for new connections, such as ``cubic``; null where the system does not say."""
    about: dict[str, str] = field(default_factory=dict)
    """What else the system says of itself, such as the model of a Mac."""


def parse_facts(text: str, *more: str) -> tuple[dict[str, str], dict[str, str]]:
    """Values and tools in lines ``name value`` and ``tool name version``. Raises ValueError."""
    values: dict[str, str] = {}
    tools: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == "tool":
            tool, _, version = value.partition(" ")
            tools[tool] = first_line(version)
        else:
            values[name] = first_line(value)
    missing = [name for name in (*IDENTITY, *more) if name not in values]
    if missing:
        raise ValueError(f"no line {', '.join(missing)}")
    for name, check in (("user", user_name), ("home", absolute), ("uid", count)):
        field_of(values, name, check)
    return values, {tool: tools[tool] for tool in TOOLS if tool in tools}
