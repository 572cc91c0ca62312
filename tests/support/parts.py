"""Cases, and clients' parts in a transfer, for tests."""

from types import SimpleNamespace
from typing import Any, cast

from lab.design.case import Case
from lab.design.factors import OPTIONS, Direction
from lab.hosts import Role
from lab.protocols import Attached, Driver, Share
from lab.run.case.sharing import Mount, Served, Setup
from lab.run.transfer.part import Endpoints, Part, Place

ENDPOINTS = Endpoints("", "", "", Place(Role.CLIENT, "/c/file"), Place(Role.SERVER, "/s/file"))


def case_of(direction: str = "write", protocol: str = "smb", **changes: Any) -> Case:
    """A case of cp; other keys than its fields are options."""
    fields: dict[str, Any] = {
        "tool": "cp", "mtu": 1500, "tcp_space": "default", "store": "ram", "workload": "file", "size_bytes": 2**20
    }  # fmt: skip
    options = {name: level for name, level in changes.items() if name not in fields and name != "files"}
    fields |= {name: value for name, value in changes.items() if name not in options}
    return Case(protocol, direction=Direction(direction), **fields, options=tuple((OPTIONS | options).items()))


def setup_of(path: str, folder: str = "/srv/share", driver: Driver | None = None, **attached: Any) -> Setup:
    drivers = {Role.CLIENT: driver or Driver(), Role.SERVER: Driver()}
    share = cast(Share, SimpleNamespace(path="/srv/share"))
    return Setup(share, folder, Served(drivers, {}), Mount(Attached(path, **attached), None), False, {})


def part_of(
    pair: Any, case: Case | None = None, setup: Any = None, endpoints: Endpoints = ENDPOINTS, session: Any = None
) -> Part:
    tool: Any = SimpleNamespace(argv=lambda *_: ("cp",))
    return Part(session, pair, case or case_of(), setup or setup_of("/mnt"), endpoints, tool, (), {}, cast(Any, None))
