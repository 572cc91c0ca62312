"""What was changed is put back, of more programs than the unit tests try."""

from unit.settings.test_changes import (  # noqa: F401 – tests
    test_after_a_kill_the_journal_alone_restores,
    test_scopes_leave_everything_as_it_was,
    test_whatever_goes_wrong_once_everything_is_put_back,
)
