"""`lab measure` of further protocols, and stopped at further moments."""

import pytest
from scenarios.test_measure import test_a_share_is_measured_by_its_url as measured_by_url
from scenarios.test_measure import (
    test_a_share_that_somebody_else_mounted_is_measured_by_its_folder as measured_by_folder,
)
from scenarios.test_measure_faults import test_a_password_that_is_wrong_is_said as wrong_password
from scenarios.test_measure_faults import test_a_share_that_is_not_there_is_said_with_what_may_help as not_there
from scenarios.test_measure_faults import test_ctrl_c_leaves_nothing as stopped
from support.measured import Measured


def test_a_share_of_nfs_is_measured_by_its_url(scene: Measured) -> None:
    measured_by_url(scene, "nfs")


def test_a_share_of_nfs_is_measured_by_its_folder(scene: Measured) -> None:
    measured_by_folder(scene, "nfs")


@pytest.mark.parametrize("protocol", ["nfs", "afp"])
def test_a_share_of_another_protocol_that_is_not_there(scene: Measured, protocol: str) -> None:
    not_there(scene, protocol)


def test_a_password_that_is_wrong_for_afp(scene: Measured) -> None:
    wrong_password(scene, "afp")


@pytest.mark.parametrize(
    "moment",
    ["file-share-lab-local-", "perl -e .* make /home", "perl -e .* check "],
    ids=["connecting", "preparing", "checking"],
)
def test_ctrl_c_at_further_moments(scene: Measured, moment: str) -> None:
    stopped(scene, moment)
