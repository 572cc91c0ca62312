"""The section ``[workload]`` of a sweep file: what is moved."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from lab.base.errors import BadInput
from lab.base.validation import Model, Seconds, Share, Size
from lab.design import payload_size
from lab.design.manifest import Manifest
from lab.design.profiles import PROFILES, check_profile, manifest_of


class Workload(Model):
    """What is moved. ``kind`` names a payload in ``lab/workloads``."""

    kind: str = "file"  #: The payload, by its name in ``lab/workloads``: ``file`` or ``tree``.
    size: Size | None = None  #: How much one trial moves. The RAM disks must hold it and 5 % more.
    seconds: Annotated[Seconds, Field(le=600)] | None = None
    """Instead of `size`: the least time that the link itself takes for what a trial moves."""
    profile: Annotated[str, AfterValidator(check_profile)] | None = None
    """For a tree: the [kind of tree](../how-to/measure-many-files.md). Its files follow from it and `size`."""
    manifest: Annotated[str, Field(min_length=1)] | None = None
    """Instead of `profile`: a file that `lab workload record` or elbencho made, relative to the sweep's folder.
    With a `size`, a sample of its files is moved; without, all of them."""
    changed: Share | None = None
    """For a tree: its *second* copy is timed. The target holds a first copy, and this share of the files has changed
    since: `0.01` is every hundredth. These files have to move; a tool may move all."""
    _recorded: Manifest | None = None

    @property
    def planned_size(self) -> int:
        """The size; if the link decides it, that for a gigabit link."""
        if self._recorded and self.size is None:
            return self._recorded.size_bytes
        return self.size or payload_size.size_for(self.seconds or 0, payload_size.GIGABIT_BYTES_PER_S)

    @property
    def recorded(self) -> Manifest | None:
        """The manifest in its file; None for any other workload."""
        return self._recorded

    @property
    def label(self) -> str:
        """Its name without the size: ``file``, ``tree photos``, ``tree 1f3a9c2b``."""
        tree = " ".join(filter(None, [self.kind, self._recorded.digest[:8] if self._recorded else self.profile]))
        return f"{tree}, {100 * self.changed:.3g} % changed" if self.changed else tree

    def tree(self, size_bytes: int) -> Manifest:
        """The tree of exactly these bytes. Raises BadInput if there is none."""
        if self._recorded:
            if size_bytes > self._recorded.size_bytes:
                raise BadInput(
                    f"{self.place}[workload] size: {size_bytes} bytes: {self.manifest} has only "
                    f"{self._recorded.size_bytes}",
                    "a smaller size, or none, for the whole tree",
                )
            return self._recorded.sample(size_bytes)
        try:
            return manifest_of(self.profile or "", size_bytes)
        except ValueError as error:
            raise BadInput(f"{self.place}[workload] size: {error}", "give a smaller size") from error

    def with_manifest(self, recorded: Manifest) -> Self:
        """The workload with the manifest in its file."""
        workload = self.model_copy()
        workload._recorded = recorded
        return workload

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.kind == "tree" and (self.profile is None) == (self.manifest is None):
            raise ValueError(
                f'give a tree either a profile ({", ".join(PROFILES)}) or manifest = "FILE", of `lab workload record`'
            )
        if self.kind != "tree" and (self.profile or self.manifest or self.changed):
            raise ValueError(f'profile, manifest and changed are of kind = "tree", and this is "{self.kind}"')
        if self.changed and self.seconds is not None:
            raise ValueError("seconds: what moves are the changed files; give the size of the whole tree")
        if self.manifest and self.seconds is not None:
            raise ValueError("seconds: a manifest has a size of its own; give size for a sample of it, or neither")
        if not self.manifest and (self.size is None) == (self.seconds is None):
            raise ValueError('give either size, such as "512 MiB", or seconds = 3, which the link decides the size by')
        return self
