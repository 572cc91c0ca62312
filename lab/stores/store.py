"""A store is what the files of a case lie on; of some the lab makes a file system for each case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar


@dataclass(frozen=True)
class Option:
    """An option of a store that a sweep may vary as a factor, such as ``ext4.data``.

    ``level`` makes text of what a sweep says, or raises ValueError. ``about`` is a sentence for the reference.
    """

    level: Callable[[object], str]
    about: str


class Store:
    """A store by its ``name`` in a sweep; ``about`` is a sentence for the reference, ``options`` what may be varied.

    One that ``is_made_anew`` the lab makes for each trial.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    is_made_anew: ClassVar[bool] = False


@dataclass(frozen=True)
class Facts:
    """What a file system that is mounted says of itself: in words, and the levels of its options."""

    description: str
    levels: Mapping[str, str]


class FileSystem(Store, ABC):
    """A file system of Linux that the lab makes in an image file, anew for each case.

    ``programs`` are those that it takes, each with its package in Debian. No smaller image than ``least_bytes`` holds
    one. ``facts_script`` prints what it says of itself: its $1 is the mount point, $2 the device.
    """

    is_made_anew = True
    platform: ClassVar[str] = "linux"
    programs: ClassVar[Mapping[str, str]]
    least_bytes: ClassVar[int]
    make_words: ClassVar[tuple[str, ...]]
    """The command that makes one, without the path. No word of it forces: something that is there stays there."""
    facts_script: ClassVar[str]

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        """The options of its mount at these levels of its options."""
        return ()

    @abstractmethod
    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """What ``facts_script`` printed, beside the options in the table of mounts. Raises ValueError."""
