"""A host's own journal and lock, over the system's ssh; tests/scenarios/host_journals has them over paramiko."""

import pytest
from scenarios.host_journals.test_host_journal import (  # noqa: F401 – tests
    test_a_host_that_stays_away_is_waited_for_once,
    test_a_timer_takes_back_what_it_was_given_and_not_what_a_file_says,
)
from scenarios.host_journals.test_host_lock import (  # noqa: F401 – tests
    test_a_host_is_in_use_while_its_run_changes_from_one_connection_to_the_next,
    test_a_lock_ends_with_the_connection_and_its_records_stay,
    test_a_second_run_is_told_whose_the_host_is,
)

pytestmark = pytest.mark.parametrize("sshd", ["openssh"], indirect=True)
