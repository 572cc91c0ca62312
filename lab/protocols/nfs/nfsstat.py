"""What nfsstat(1) of a Mac says of a mount."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lab.base.errors import LabFailure
from lab.base.untrusted import count, word
from lab.protocols.nfs.options import MACOS_OPTIONS
from lab.protocols.options import split_mount_options
from lab.protocols.share import Values

CURRENT = "-- Current mount parameters:"


def parse_nfsstat(text: str) -> dict[str, str]:
    """The parameters in effect, each with its value or an empty text, of ``nfsstat -m PATH``."""
    has_parts = "-- Original mount options:" in text or CURRENT in text
    current = text.partition(CURRENT)[2] if has_parts else text
    parameters = re.search(r"^\s*NFS parameters: (\S+)", current, re.MULTILINE)
    return split_mount_options(parameters[1]) if parameters else {}


def read_parameters(parameters: Mapping[str, str]) -> Values:
    """Version and largest requests (``rsize``, ``wsize``, bytes) of what nfsstat says. Raises LabFailure."""
    version = MACOS_OPTIONS["version"].read_level(parameters)
    try:
        sizes: Values = {name: count(parameters[name]) for name in ("rsize", "wsize") if name in parameters}
        dialect = {"dialect": "NFSv" + word(version, r"[0-9.]{1,8}")} if version else {}
    except ValueError as error:
        raise LabFailure(f"nfsstat -m: {error}", host="client") from error
    return {**sizes, **dialect}
