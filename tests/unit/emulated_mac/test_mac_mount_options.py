"""Options of mount(8) and the flags that it prints for them."""

import pytest

from emulated_mac import mount_options
from emulated_mac.mount_options import Refused


def test_flags_of_a_mount() -> None:
    standard, own = mount_options.parse("nobrowse,soft,ro", {"soft": False})
    assert (mount_options.flags(standard, 501), own) == (["nodev", "nosuid", "read-only", "nobrowse"], {"soft": ""})
    assert mount_options.flags(standard, 0) == ["read-only", "nobrowse"]
    with pytest.raises(Refused, match="-o sync: option not supported"):
        mount_options.parse("sync", {})
