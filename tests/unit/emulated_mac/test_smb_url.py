"""URLs of SMB as Apple's programs read them."""

import re

import pytest

from emulated_mac import smb_url


def test_a_url_is_decoded_and_shown_without_its_password() -> None:
    url = smb_url.parse("//DOM;me%40x:p%3Aw@server/My%20Share")
    assert (url.domain, url.user, url.password, url.server, url.share) == ("DOM", "me@x", "p:w", "server", "My Share")
    assert url.source == "//DOM;me%40x@server/My%20Share"
    for bad in ("server/share", "//", "//a/b@c/d@e", "nfs://x/y"):
        with pytest.raises(ValueError, match=re.escape(bad)):
            smb_url.parse(bad)
