"""A survey as strangers may have it: what names a host, a person, a share or a folder is replaced, alike everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, replace

from lab.fidelity.copies import Copy, Ends
from lab.fidelity.engines import Engine
from lab.fidelity.survey import Survey


def texts_of(survey: Survey) -> Iterator[str]:
    """All that hosts and hosts files have put into it."""
    yield from (*survey.left_out, *survey.failures)
    for engine in survey.engines:
        yield from (engine.path, engine.version, *engine.options.values())
    for copy in survey.copies:
        yield from (copy.command, *astuple(copy.ends))
        yield from (judgement.how for judgements in copy.views.values() for judgement in judgements.values())


def masked(survey: Survey, mask: Callable[[str], str]) -> Survey:
    """The survey with each of these texts through ``mask``; verdicts and the lab's own words stay."""
    return replace(
        survey,
        engines=[_engine(engine, mask) for engine in survey.engines],
        left_out=[*map(mask, survey.left_out)],
        failures=[*map(mask, survey.failures)],
        copies=[_copy(copy, mask) for copy in survey.copies],
    )


def _engine(engine: Engine, mask: Callable[[str], str]) -> Engine:
    options = {option: mask(answer) for option, answer in engine.options.items()}
    return replace(engine, path=mask(engine.path), version=mask(engine.version), options=options)


def _copy(copy: Copy, mask: Callable[[str], str]) -> Copy:
    views = {
        view: {name: replace(judgement, how=mask(judgement.how)) for name, judgement in judgements.items()}
        for view, judgements in copy.views.items()
    }
    return replace(copy, ends=Ends(*map(mask, astuple(copy.ends))), command=mask(copy.command), views=views)
