"""Kinds of trees that people keep, as distributions of sizes. A profile and a size give the same tree anywhere."""

import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

from lab.design.manifest import MOST_ENTRIES, Manifest, TreeFile, of_files

KIB, MIB = 1 << 10, 1 << 20
SEED = 1
NORMAL = NormalDist()
SizeOf: TypeAlias = Callable[[random.Random], float]


@dataclass(frozen=True)
class Kind:
    """A kind of file: the ending of its name, its share of all files, and the distribution of its size in bytes."""

    ending: str
    share: float
    size_of: SizeOf


@dataclass(frozen=True)
class Profile:
    """A tree of these kinds of files. A folder has up to ``width`` folders. ``source`` explains the numbers."""

    name: str
    kinds: tuple[Kind, ...]
    files_a_folder: int
    width: int
    source: str

    def manifest(self, size_bytes: int) -> Manifest:
        """A tree of exactly these bytes: files are drawn until it has them, and the last one is cut."""
        generator = random.Random(SEED)  # noqa: S311  no secret
        files, remaining = list[TreeFile](), size_bytes
        while remaining:
            if len(files) == MOST_ENTRIES // 2:
                raise ValueError(f"a tree {self.name} of that size has more than {MOST_ENTRIES // 2:,} files")
            kind = self._draw(generator)
            size = min(remaining, max(1, round(kind.size_of(generator))))
            files.append(TreeFile(size, f"{self._folder(len(files))}{len(files):06}{kind.ending}"))
            remaining -= size
        return of_files(files)

    def _draw(self, generator: random.Random) -> Kind:
        at = generator.random() * sum(kind.share for kind in self.kinds)
        for kind in self.kinds:
            at -= kind.share
            if at < 0:
                return kind
        return self.kinds[-1]

    def _folder(self, number: int) -> str:
        """The folder of a file: its number in base ``width``, a digit for each level."""
        folder, names = number // self.files_a_folder, list[str]()
        while folder:
            folder, digit = divmod(folder - 1, self.width)
            names.append(f"folder-{digit + 1:02}/")
        return "".join(reversed(names))


def _normal(generator: random.Random) -> float:
    # only random() gives the same numbers in every version of Python
    return NORMAL.inv_cdf(max(generator.random(), 1e-12))


def lognormal(median: float, sigma: float, most: float) -> SizeOf:
    """``sigma`` is the standard deviation of the natural logarithm. Sizes above ``most`` are cut to it."""
    return lambda generator: min(most, median * math.exp(sigma * _normal(generator)))


def gamma_three_halves(mean: float) -> SizeOf:
    """The gamma distribution of shape 1.5, filebench's default: χ² with three degrees of freedom."""
    return lambda generator: mean / 3 * sum(_normal(generator) ** 2 for _ in range(3))


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "photos",
            (
                Kind(".jpg", 0.30, lognormal(2.5 * MIB, 0.5, 30 * MIB)),
                Kind(".raw", 0.03, lognormal(24 * MIB, 0.3, 80 * MIB)),
                Kind("-preview.jpg", 0.33, lognormal(300 * KIB, 0.4, 2 * MIB)),
                Kind("-thumb.jpg", 0.34, lognormal(40 * KIB, 0.4, 300 * KIB)),
            ),
            files_a_folder=100, width=12,
            source="chosen, not measured: originals, one in eleven raw, each with a preview and a thumbnail",
        ),
        Profile(
            "source-tree", (Kind(".c", 1.0, lognormal(1644, 1.87, 1.1 * MIB)),), files_a_folder=22, width=6,
            source="the 4846 files of git/git at 1a3e64c: median 1.7 KiB, mean 9.7 KiB, 22 a folder",
        ),
        Profile(
            "mail", (Kind(".eml", 1.0, gamma_three_halves(16 * KIB)),), files_a_folder=1000, width=10,
            source="filebench's varmail.f: 1000 files in a folder, gamma of mean 16 KiB",
        ),
        Profile(
            "video", (Kind(".mov", 1.0, lognormal(48 * MIB, 0.6, 10 << 30)),), files_a_folder=4, width=4,
            source="4 a folder as in filebench's videoserver.f, whose files of 10 GiB no RAM disk holds: clips of some "
            "48 MiB",
        ),
    )
}  # fmt: skip


@functools.lru_cache(maxsize=4)
def manifest_of(profile: str, size_bytes: int) -> Manifest:
    """The tree of a profile with exactly these bytes. Raises ValueError for too many files."""
    return PROFILES[profile].manifest(size_bytes)


def check_profile(name: str) -> str:
    """The name of a profile. Raises ValueError for any other."""
    if name not in PROFILES:
        raise ValueError(f"is no kind of tree; there are {', '.join(PROFILES)}")
    return name
