"""Payloads and the tools that move them, and the link's ceiling. A new payload or tool is a new file here."""

import sys

from lab.base import plugins
from lab.workloads.workload import Move, Payload, Tool

__all__ = ["Move", "Payload", "Tool", "payload", "tool", "tools"]


def tools() -> dict[str, Tool]:
    """Every tool, by its name."""
    return plugins.members(sys.modules[__name__], "TOOL", Tool)  # type: ignore[type-abstract]


def tool(name: str) -> Tool:
    """The tool of this name. Raises BadInput."""
    return plugins.find(tools(), "tool", name)


def payload(name: str) -> Payload:
    """The payload of this name. Raises BadInput."""
    payloads = plugins.members(sys.modules[__name__], "PAYLOAD", Payload)  # type: ignore[type-abstract]
    return plugins.find(payloads, "workload kind", name)
