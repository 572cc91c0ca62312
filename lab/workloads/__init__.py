"""What is moved and with which tool, and the link's ceiling. A new payload or tool is a new file here."""

from __future__ import annotations

import sys

from lab.errors import BadInput
from lab.registry import members
from lab.workloads.base import Payload, Tool

__all__ = ["Payload", "Tool", "payload", "tool"]


def tool(name: str) -> Tool:
    """The tool of this name. Raises BadInput."""
    found: Tool = _named(name, "TOOL", "tool")
    return found


def payload(name: str) -> Payload:
    """The payload of this name. Raises BadInput."""
    found: Payload = _named(name, "PAYLOAD", "workload kind")
    return found


def _named(name: str, attribute: str, what: str):  # type: ignore[no-untyped-def]
    known = members(sys.modules[__name__], attribute)
    if name not in known:
        raise BadInput(f"unknown {what} {name!r}; known are {', '.join(sorted(known))}")
    return known[name]
