"""A sample of the fault matrix with three clients. Of its own, for each sample takes minutes."""

from __future__ import annotations

import pytest
from breadth.test_fault_matrix import check_sample


@pytest.mark.usefixtures("root")
def test_in_the_sample_of_three_clients_nothing_is_dirty_lost_or_wrong() -> None:
    check_sample("3")
