"""What a local lab is to be, as its supervisor is told in one argument."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True)
class Request:
    """Rates and platforms by host, the link's delay, where the hosts file goes, and the backend with why it was chosen.

    All was checked by whoever asks (:func:`lab.local.lifecycle.up`).
    """

    rates: dict[str, str]
    delay: str
    hosts_file: str
    platforms: dict[str, str]
    backend: str
    why: str

    def to_json(self) -> str:
        """The words that :meth:`from_json` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, words: str) -> Self:
        """Of another process of this lab."""
        return cls(**json.loads(words))
