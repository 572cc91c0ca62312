"""A sample of the fault matrix: in the middle of transfers, at files of the controller's, and lies of hosts."""

import pytest
from breadth.test_fault_matrix import check_sample


@pytest.mark.usefixtures("root")
def test_at_these_moments_nothing_is_dirty_lost_or_wrong_either() -> None:
    check_sample("moments", "1")
