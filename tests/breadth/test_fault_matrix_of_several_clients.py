"""A sample of the fault matrix with three clients. It takes minutes, so it is a file that a second worker can run."""

import pytest
from breadth.test_fault_matrix import check_sample


@pytest.mark.usefixtures("root")
def test_in_the_sample_of_three_clients_nothing_is_dirty_lost_or_wrong() -> None:
    check_sample("commands", "3")
