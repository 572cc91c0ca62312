"""Names as people give them, spaces and signs included: real servers serve them, or the hosts file is refused."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_host import FakeHost
from support.input_files import HOSTS, SHARES
from support.pairs import side_of

from lab.base.errors import BadInput, Unsupported
from lab.hosts.fields import absolute, interface_name, plain_folder, share_name, user_name
from lab.hosts.hosts_file import load_hosts
from lab.protocols.mounts.gvfs import bus_address


def refused(folder: Path, section: str, key: str, value: str, serve: str = "lab") -> str:
    """What is said of this value; it names the place. Empty where the value is taken, and then it is kept whole."""
    before, after = f"{HOSTS}serve = {serve}\n".split(f"[{section}]\n")
    after = re.sub(f"^{key} = .*\n", "", after, count=1, flags=re.MULTILINE)
    path = folder / "hosts.ini"
    path.write_text(f"{before}[{section}]\n{key} = {value}\n{after}")
    try:
        assert getattr(getattr(load_hosts(path), section), key) == value
    except BadInput as error:
        message = str(error)
    else:
        return ""
    assert message.startswith(f"{path}: [{section}] {key}: ")
    return message


@pytest.mark.parametrize("value", ["/a/../b", "/a/./b", '/a"b', "/a\\b", "/100%", "/a  b", "/${HOME}", "/" + "x" * 256,
                                   "/a\x1bb", "/a\u202eb", "/a\x85b", "~/..", "a", "-o"])  # fmt: skip
@pytest.mark.parametrize(("section", "key"), [("client", "mount_base"), ("share", "path")])
def test_a_folder_that_no_settings_can_express_is_refused(tmp_path: Path, section: str, key: str, value: str) -> None:
    assert refused(tmp_path, section, key, value)


@pytest.mark.parametrize(("section", "key"), [("client", "host"), ("client", "user"), ("client", "interface"),
                                              ("share", "account"), ("share", "name")])  # fmt: skip
@pytest.mark.parametrize("value", ["-oProxyCommand=id", "$(touch x)", "a;b", "a/../b", "a\x1bb", "`id`", "a'b"])
def test_words_of_commands_are_names(tmp_path: Path, section: str, key: str, value: str) -> None:
    assert refused(tmp_path, section, key, value)


def test_names_of_shares_that_were_there_are_taken_unless_they_can_be_none(tmp_path: Path) -> None:
    for name in (*SHARES, "x" * 255, "Müller & Söhne"):
        assert refused(tmp_path, "share", "name", name, "existing") == ""
    for name in ("a/b", "a\\b", ".", "..", "x" * 256, "a\x07b"):
        assert refused(tmp_path, "share", "name", name, "existing")
    for value in ('/a"b', "/a\\b", "/100%", "/a  b", "/${HOME}"):
        assert refused(tmp_path, "share", "path", value, "existing") == ""


@given(st.text())
def test_what_is_taken_can_be_no_option_and_moves_no_cursor(text: str) -> None:
    for check in (absolute, plain_folder, share_name, user_name, interface_name):
        try:
            taken = check(text)
        except ValueError:
            continue
        assert taken.isprintable()
        assert check is share_name or not taken.startswith("-")
        assert ".." not in taken.split("/")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1).map("/".__add__))
def test_the_address_of_a_bus_is_one_value_for_dbus_and_for_xml(path: str) -> None:
    address = bus_address(path)
    scheme, _, value = address.partition("=")
    assert scheme == "unix:path"
    assert not set(value) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/.%")
    assert unquote(value) == path


def test_a_folder_that_no_settings_or_sockets_can_have_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"client: mount_base: /home/100%/x cannot have"):
        side_of(FakeHost(), "linux", "192.0.2.1", "/home/100%/x", "me")
    side = side_of(FakeHost(), "linux", "192.0.2.1", f"/{'x' * 72}", "me")
    with pytest.raises(Unsupported, match="give a mount_base of at most 40 bytes"):
        side.check_sockets()
