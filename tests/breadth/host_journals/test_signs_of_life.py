"""A lease that is renewed, for longer than it lasts."""

import time

from support.noted_file import Place

from lab.settings import lease


def test_a_run_that_gives_signs_of_life_is_left_alone_for_longer_than_its_lease(place: Place) -> None:
    settings = place.changed(lease_s=10.0)
    with lease.keep_alive(settings.host_journals):
        time.sleep(12)
        assert place.file.read_text() == "new\n"
    place.unwind(settings)
    assert not settings.host_journals["client"].lapsed
