"""The hosts file that comes with the lab: recognised, and refused as long as nobody has filled it in."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.input_files import load_text
from support.paths import ROOT

from lab.base.errors import BadInput
from lab.hosts.sections import check_filled_in, is_untouched

TEMPLATE = (ROOT / "hosts.ini").read_text(encoding="utf-8")
LINES = [f"line {number}" for number, line in enumerate(TEMPLATE.splitlines(), 1) if "# <--" in line]


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(BadInput) as raised:
        load_text(folder, text)
    return str(raised.value).replace(f"{folder / 'hosts.ini'}: ", "")


def test_the_file_that_comes_with_the_lab_is_untouched_and_names_what_to_fill_in(tmp_path: Path) -> None:
    assert is_untouched(TEMPLATE)
    message = refusal(tmp_path, TEMPLATE)
    assert message.startswith("fill in the lines marked <--: line ")
    named = re.findall(r"\((\[\w+\] \w+)\)", message)
    assert named == ["[client] host", "[client] user", "[server] host", "[server] user", "[share] account"]
    assert set(re.findall(r"line \d+", message)) < set(LINES)
    assert "`lab init`" in message


def test_what_is_still_to_be_filled_in_is_named_alone(tmp_path: Path) -> None:
    text = TEMPLATE.replace("host = client.local", "host = mini.local", 1).replace("user = you", "user = jane")
    named = re.findall(r"\((\[\w+\] \w+)\)", refusal(tmp_path, text))
    assert named == ["[server] host", "[share] account"]
    assert not is_untouched(text)


def test_who_follows_the_guide_has_its_addresses(tmp_path: Path) -> None:
    text = TEMPLATE.replace("client.local", "a").replace("server.local", "b").replace("= you", "= jane")
    assert load_text(tmp_path, text).client.data_address == "192.168.77.1"


def test_a_value_is_right_as_it_is_once_its_mark_is_gone(tmp_path: Path) -> None:
    text = TEMPLATE.replace("# <--", "")
    assert load_text(tmp_path, text).client.host == "client.local"
    assert is_untouched(text)


@pytest.mark.parametrize(
    "change",
    [("# interface = en0", "interface = en7"), ("sudo = password", "sudo = none"), ("[share]", "[lab]\n[share]")],
)
def test_any_other_line_is_somebodys_work(change: tuple[str, str]) -> None:
    assert not is_untouched(TEMPLATE.replace(*change, 1))


def test_another_comment_is_not() -> None:
    assert is_untouched(f"; mine\n{TEMPLATE}\n# end\n".replace("host = client.local", "host   =  client.local"))


@given(st.text())
def test_no_text_is_taken_for_the_template_or_breaks_the_check(text: str) -> None:
    assert not is_untouched(text)
    check_filled_in(text, Path("hosts.ini"))
