"""A file system in one image file over a loop device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from lab.settings.setting import Setting
from lab.stores.image import LoopModule, image_file, image_mount
from lab.stores.store import FileSystem, Room, Site

USABLE = 0.85  # of an image: btrfs takes most for itself, and leaves 0.89 of 2 GiB (two copies of metadata)


class ImageFileSystem(FileSystem):
    """A file system of Linux that the lab makes in an image file. No smaller image than ``least_bytes`` holds one."""

    module = LoopModule()
    lies_in = "an image"
    least_bytes: ClassVar[int]
    make_words: ClassVar[tuple[str, ...]]
    """The command that makes one, without the path. No word of it forces: something that is there stays there."""

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        """The options of its mount at these levels of its options."""
        return ()

    def least_size(self, levels: Mapping[str, str]) -> int:
        """See :meth:`FileSystem.least_size`."""
        return self.least_bytes

    def empty_room(self, levels: Mapping[str, str]) -> Room:
        """See :meth:`FileSystem.empty_room`."""
        return Room(USABLE)

    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        """See :meth:`FileSystem.steps`."""
        image = f"{site.directory}/store.image"
        yield image_file(site.role, image, size_bytes, self.make_words)
        yield image_mount(site.role, site.path, image, self.name, self.mount_options(levels), site.uid)
