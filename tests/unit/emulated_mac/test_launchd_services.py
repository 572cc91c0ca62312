"""Property lists of the file servers."""

import plistlib

from emulated_mac import launchd_services


def test_property_lists_are_ones() -> None:
    for service in launchd_services.SERVICES:
        text = plistlib.dumps(launchd_services.property_list(service))
        assert plistlib.loads(text)["Label"] == service.label
