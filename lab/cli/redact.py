"""Copies of runs for others, and what their owner is told: the replaced names, and words that may be names."""

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


def public_copies(runs: Sequence[RunFolder]) -> list[Public]:
    """Copies of runs for strangers. A name has the same mask in all; replaced names are said. Raises BadInput."""
    from lab.base.masking import Masker
    from lab.results import public

    masker = Masker()
    copies = public.public_copies(runs, masker)
    say_replaced(masker, runs)
    return copies


def say_replaced(masker: Masker, runs: Iterable[RunFolder]) -> None:
    """Tell the owner on standard error which mask stands for which name, and which words of titles may be names."""
    from lab.results.titles import doubtful_words

    if replaced := masker.replaced:
        say(f"replaced {len(replaced)} names; look for others before you publish:")
    else:
        say("no name was found that tells whose hosts these are")
    for kind, name, mask in replaced:
        say(f"  {'what a host printed' if kind == 'password' else one_line(name, 80)} ({kind}): {mask}")
    for title in dict.fromkeys(masker.mask(str(run.run.get("title") or "")) for run in runs):
        if words := doubtful_words(title):
            verb = "looks like a name" if len(words) == 1 else "look like names"
            shown = f"the title is published as it is, and {listing(words)} {verb}: {one_line(title, 200)}"
            say(f"warning: {shown}; {RENAME}")
