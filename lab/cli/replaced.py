"""What a command that writes for others says to the owner of the runs: which names it replaced, and what may be one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lab.base.untrusted import listing, one_line
from lab.cli.terminal import say

if TYPE_CHECKING:
    from lab.base.masking import Masker
    from lab.results.public import Public
    from lab.results.run_folder import RunFolder

RENAME = "give another title in [lab] of the hosts file for the next run, and in run.json for this one"


def public_copy(run: RunFolder) -> Public:
    """The copy of a run that strangers may have; what it replaces is said. Raises BadInput."""
    (copy,) = public_copies([run])
    return copy


def public_copies(runs: Sequence[RunFolder]) -> list[Public]:
    """The same of runs that belong together: a name of any has the same mask in all."""
    from lab.base.masking import Masker
    from lab.results import public

    masker = Masker()
    copies = public.public_copies(runs, masker)
    say_replaced(masker, runs)
    return copies


def say_replaced(masker: Masker, runs: Iterable[RunFolder]) -> None:
    """Say on standard error what stands for which name, and which words of the runs' titles may be names.

    That is for the owner of the runs alone.
    """
    if replaced := masker.replaced:
        say(f"replaced {len(replaced)} names; look for others before you publish:")
    else:
        say("no name was found that tells whose hosts these are")
    for kind, name, mask in replaced:
        say(f"  {'what a host printed' if kind == 'password' else one_line(name, 80)} ({kind}): {mask}")
    for title in dict.fromkeys(masker.mask(str(run.run.get("title") or "")) for run in runs):
        _warn_of_title(title)


def _warn_of_title(title: str) -> None:
    from lab.results.titles import doubtful_words

    if words := doubtful_words(title):
        verb = "looks like a name" if len(words) == 1 else "look like names"
        shown = f"the title is published as it is, and {listing(words)} {verb}: {one_line(title, 200)}"
        say(f"warning: {shown}; {RENAME}")
