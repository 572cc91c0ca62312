"""The guard of a lease on a host without perl, over the system's ssh. That of perl: tests/scenarios."""

from __future__ import annotations

import pytest
from scenarios.host_journals.test_lease import (  # noqa: F401 – tests
    PYTHON,
    silence,
    test_a_change_that_is_noted_too_late_is_not_made,
    test_a_connection_made_anew_within_the_lease_loses_nothing,
    test_a_guard_that_is_gone_is_started_anew_with_all_it_has_to_know,
    test_a_guard_that_is_no_longer_wanted_ends_and_touches_nothing,
    test_restoring_before_the_guard_ends_it,
    test_what_cannot_be_put_back_stays_for_a_person_and_keeps_nothing_else,
    test_what_was_in_the_way_at_first_is_put_back_later,
)

pytestmark = [
    pytest.mark.parametrize("sshd", ["openssh"], indirect=True),
    pytest.mark.parametrize("python", [PYTHON], indirect=True),
]
