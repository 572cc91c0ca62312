"""The registry of factors: what is derived from it."""

import dataclasses

import pytest
from support.sweeps import sweep_of

from lab.design.case import Case
from lab.design.factors import BY_NAME, COLUMNS, FACTORS, OPTIONS, Plot, baseline_of, label_of, plot_of
from lab.design.sweep_file import Factors
from lab.results.trial import FIELDS, WORDS


def test_every_factor_is_a_key_of_a_sweep_with_its_default_and_its_description() -> None:
    assert list(Factors.model_fields) == list(BY_NAME)
    for factor in FACTORS:
        field = Factors.model_fields[factor.name]
        assert field.description == factor.description
        assert field.is_required() == (not factor.default)
        assert sweep_of().factors.of(factor.name) == (factor.default or ("smb",))


def test_a_factor_is_a_field_of_cases_and_trials_or_an_option() -> None:
    fields = {field.name for field in dataclasses.fields(Case)}
    assert set(COLUMNS) == fields - {"workload", "size_bytes", "options", "files"}
    assert set(COLUMNS) <= set(FIELDS)
    assert not set(OPTIONS) & fields
    assert set(COLUMNS) | set(OPTIONS) == set(BY_NAME)
    assert {name: BY_NAME[name].default for name in OPTIONS} == {name: (level,) for name, level in OPTIONS.items()}
    assert all(isinstance(level, str) for level in OPTIONS.values())
    assert WORDS["direction"] == {"write", "read"}
    assert WORDS["tcp_space"] == {"default"}


@pytest.mark.parametrize(
    ("name", "label", "baseline", "plot"),
    [
        ("mtu", "MTU", None, Plot.WHOLE), ("tcp_space", "TCP buffer", "default", Plot.SUB),
        ("store", "store", "ram", Plot.SUB_SUB), ("client_sync", "flush", "fsync", Plot.INSIDE),
        ("smb.signing", "SMB signing", "default", Plot.INSIDE), ("nfs.server", "NFS server", "default", Plot.SUB_SUB),
        ("smb.time_machine", "SMB time machine", "default", Plot.SUB_SUB), ("workload", "workload", None, Plot.INSIDE),
    ],
)  # fmt: skip
def test_a_name_says_label_baseline_and_plot(name: str, label: str, baseline: str | None, plot: Plot) -> None:
    assert (label_of(name), baseline_of(name), plot_of(name)) == (label, baseline, plot)
    assert [BY_NAME["protocol"].write(level) for level in ("smb", "afp", "local")] == ["SMB", "AFP", "local"]
