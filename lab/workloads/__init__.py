"""What is moved and with which tool, and the link's ceiling. A new payload or tool is a new file here."""

from __future__ import annotations

import sys

from lab.base import plugins
from lab.workloads.workload import Payload, Tool

__all__ = ["Payload", "Tool", "payload", "tool"]


def tool(name: str) -> Tool:
    """The tool of this name. Raises BadInput."""
    member: Tool = plugins.find(sys.modules[__name__], "TOOL", "tool", name)
    return member


def payload(name: str) -> Payload:
    """The payload of this name. Raises BadInput."""
    member: Payload = plugins.find(sys.modules[__name__], "PAYLOAD", "workload kind", name)
    return member
