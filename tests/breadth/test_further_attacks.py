"""Attacks of the scenarios, in further forms."""

from pathlib import Path

import pytest
from scenarios.test_local_attackers import test_a_run_under_attack_gives_nothing_of_roots_away as under_attack
from scenarios.test_lying_hosts import test_a_lying_host_gets_nowhere as check_a_liar
from scenarios.test_planted_payloads import (
    test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there as nobody_can_plant,
)
from scenarios.test_runs_from_elsewhere import (
    test_a_run_of_somebody_elses_runs_nothing_on_the_hosts as runs_nothing,
)
from scenarios.test_runs_from_elsewhere import (
    test_a_run_whose_journal_is_not_what_it_was_is_restored_by_its_hosts_and_goes_on as goes_on,
)
from support.local_lab import Bench


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("attack", ["first", "plant"])
def test_a_run_under_further_attacks(bench: Bench, attack: str) -> None:
    under_attack(bench, attack)


def test_nobody_can_plant_where_another_account_writes(bench: Bench) -> None:
    nobody_can_plant(bench, "www-data")


@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.usefixtures("clean_hosts")
def test_further_lies(
    liar: Bench, seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_a_liar(liar, seed, monkeypatch, capsys)


@pytest.mark.parametrize(("host", "is_command"), [("client", False), ("server", True)])
def test_a_run_of_somebody_elses(bench: Bench, host: str, is_command: bool) -> None:
    runs_nothing(bench, host, is_command)


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_further_damage_to_a_journal(bench: Bench, killed: Path, damage: str) -> None:
    goes_on(bench, killed, damage)
