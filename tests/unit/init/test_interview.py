"""The six questions: what Enter takes, what may be typed, and what is refused with a reason."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.surroundings import MEDIA, NOTHING_FOUND, SURROUNDINGS, WITH_MOUNT, interviewed

from lab.base.errors import BadInput
from lab.init.questions import MOST_CHOICES, AccountAnswer, Answers, HostAnswer, ShareAnswer

ENTER = ""


def questions(screen: list[str]) -> list[str]:
    return [line for line in screen if re.match(r"[0-9]\. ", line)]


def test_enter_six_times_is_this_machine_and_the_first_share_of_the_first_server_that_nobody_logs_in_to() -> None:
    answers, screen = interviewed([ENTER] * 6)
    client = HostAnswer("", "this machine", "jane", "192.168.77.1", "en7")
    server, share = HostAnswer("", "nas.local", "", "192.168.77.2"), ShareAnswer("smb", "media")
    assert answers == Answers(client, server, share, AccountAnswer("jane", "prompt"), "password")
    assert questions(screen) == [
        "1. Which machine mounts the share (the client)?",
        "2. Which machine has the share (the server)?",
        "3. Who can log in to nas.local by SSH (its SSH does not answer)?",
        "4. Which share of nas.local?",
        "5. Which account of the share, and where is its password?",
        "6. How do root commands (MTU, sysctl, mount) run on this machine?",
    ]
    # the second list keeps the numbers of the first one; then comes the server by each link that leads to it
    this_machine = "   1) this machine, without SSH (en0 192.168.1.20, en7 192.168.77.1)"
    others = ["   2) mini, of ~/.ssh/config", "   3) box: box.local, 192.168.1.9 by en0: SSH"]
    typed = "   or type [USER@]NAME as for ssh, then its address on the link if that differs"
    first, second = (screen.index(question) + 1 for question in questions(screen)[:2])
    assert screen[first : first + 5] == [this_machine, *others, typed, "   [1] > "]
    assert screen[second : second + 7] == [
        "   1) this machine: it is the client",
        *others,
        "   4) Big NAS: nas.local, 192.168.77.2 by en7: AFP, SMB",
        "   5) Big NAS: nas.local, 192.168.1.5 by en0: AFP, SMB",
        typed,
        "   [4] > ",
    ]


def test_the_address_of_this_machine_is_that_of_the_link_to_the_server() -> None:
    answers, _ = interviewed([ENTER, "5", ENTER, "films", ENTER, ENTER])
    assert (answers.client.address, answers.server.address) == ("192.168.1.20", "192.168.1.5")
    assert answers.share == ShareAnswer("afp", "films")  # nothing else answers at that address


def test_an_ssh_host_is_reached_by_what_ssh_says_of_it() -> None:
    answers, _ = interviewed(["mini", "joe@box 192.168.77.9", "joe", "media /srv/media", "ann keyring", "nopasswd"])
    client, server = HostAnswer("mini", "mini", "joe", "192.0.2.3"), HostAnswer("box", "box", "joe", "192.168.77.9")
    share, account = ShareAnswer("smb", "media", "/srv/media"), AccountAnswer("ann", "keyring:file-share-lab")
    assert answers == Answers(client, server, share, account, "nopasswd")
    assert answers.sudo_of(answers.server) == "nopasswd"


def test_with_a_login_the_folder_on_the_server_is_guessed_or_stands_behind_the_number() -> None:
    guessed, screen = interviewed([ENTER, ENTER, "jane", "2", ENTER, ENTER])
    assert guessed.share == ShareAnswer("smb", "Time Machine", "/srv/Time Machine", guessed=True)
    assert "   2) Time Machine (SMB, its folder there /srv/Time Machine (a guess))" in screen
    typed, _ = interviewed([ENTER, ENTER, "jane", "2 /volume1/tm", ENTER, ENTER])
    assert typed.share == ShareAnswer("smb", "Time Machine", "/volume1/tm")


def test_a_share_that_is_mounted_here_leads_to_its_server_and_needs_no_account() -> None:
    answers, screen = interviewed([ENTER] * 5, WITH_MOUNT)
    assert (answers.server.address, answers.share) == (MEDIA.address, ShareAnswer("smb", mounted="/Volumes/media"))
    assert "   4) nas.local, 192.168.77.2: media (SMB) is mounted at /Volumes/media" in screen
    assert len([line for line in screen if "192.168.77.2" in line and ")" in line[:6]]) == 1
    assert "   1) media (SMB), as it is mounted at /Volumes/media" in screen
    assert len(questions(screen)) == 5
    elsewhere, _ = interviewed(["mini", "nas.local 192.168.77.2", ENTER, ENTER, ENTER, ENTER], WITH_MOUNT)
    assert elsewhere.share == ShareAnswer("smb", "media")


def test_an_export_of_nfs_needs_no_account_and_the_lab_serves_a_share_where_there_is_none() -> None:
    export, screen = interviewed([ENTER, ENTER, ENTER, "3", ENTER])
    share = ShareAnswer("nfs", path="/volume1/two words")
    assert (export.share, export.account, len(questions(screen))) == (share, AccountAnswer("jane", "prompt"), 5)
    answers, screen = interviewed([ENTER, "3", ENTER, ENTER, ENTER, ENTER])
    assert answers.share == ShareAnswer(by_lab=True)
    assert answers.server == HostAnswer("box.local", "box.local", "jane", "192.168.1.9")
    assert "3. Who can log in to box.local by SSH (its SSH answers)?" in questions(screen)


def test_root_is_asked_for_no_sudo_and_only_administrators_have_it_by_default() -> None:
    answers, screen = interviewed(["root@mini", "root@box", ENTER, ENTER, ENTER])
    assert [answers.sudo_of(host) for host in (answers.client, answers.server)] == ["none", "none"]
    assert len(questions(screen)) == 5
    mixed, _ = interviewed(["root@mini", "box", "jane", ENTER, ENTER, "nopasswd"])
    assert [mixed.sudo_of(host) for host in (mixed.client, mixed.server)] == ["none", "nopasswd"]
    user, _ = interviewed([ENTER] * 6, replace(SURROUNDINGS, is_administrator=False))
    assert user.sudo == "none"  # by default


def test_where_nothing_is_found_everything_can_be_typed() -> None:
    answers, screen = interviewed([ENTER, ENTER, "192.168.77.2", ENTER, ENTER, "media", ENTER, ENTER], NOTHING_FOUND)
    assert answers.share == ShareAnswer("smb", "media")
    assert screen.count("   type an answer; Ctrl-C ends this, and nothing is written") == 2
    assert "4. Which share of 192.168.77.2, which shows none unasked?" in screen


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["nowhere"], "this machine finds no address of nowhere: type nowhere ADDRESS, with its address on the link"),
        (["7"], "there are only 1 to 3"),
        (["0 10.99.0.2"], "there are only 1 to 3"),
        (["root@2 10.99.0.2"], "2 is a number, not the name of a host"),
        ([ENTER, "9 10.99.0.2"], "there are only 1 to 5"),
        ([ENTER, "1"], "1 cannot be taken: it is the client"),
        (["2", "2 192.168.77.9"], "2 cannot be taken: it is the client"),
        (["2", "1"], "1 cannot be taken: type its name or address if it has the share"),
        ([ENTER, ENTER, "4"], "there are only 1 to 3"),
        ([ENTER, ENTER, ENTER, "12"], "there are only 1 to 3"),
        ([ENTER, ENTER, ENTER, ENTER, "99 prompt"], "there are only 1 to 3"),
        ([ENTER, ENTER, ENTER, ENTER, ENTER, "5"], "there are only 1 to 4"),
        (["a b c"], "that is more than a name and an address"),
        (["$(id)"], "is not the name of a host"),
        (["a;b@mini"], "is not the name of an account"),
        (["mini nas"], "nas is no IP address"),
        (["mini 224.0.0.1"], "224.0.0.1 is an address of many hosts at once"),
        ([ENTER, "here"], "here is the client itself (127.0.0.1)"),
        ([ENTER, "192.168.1.20"], "192.168.1.20 is the client itself (192.168.1.20)"),
        (["mini", "mini"], "mini is the client itself (192.0.2.3)"),
        ([ENTER, "10.9.9.9"], "no way leads from here to 10.9.9.9"),
        ([ENTER, ENTER, "a:b"], "is not the name of an account"),
        ([ENTER, ENTER, ENTER, "a/b"], "is not the name of a share"),
        ([ENTER, ENTER, ENTER, "media /srv"], "/srv: the folder on the server is only for who can log in there"),
        ([ENTER, ENTER, ENTER, "a #1"], "has a # or ; at its beginning or after a space"),
        ([ENTER, ENTER, ENTER, "/a/../b"], "has a . or .. in it"),
        ([ENTER, ENTER, ENTER, ENTER, "a:b"], "is not an account"),
        ([ENTER, ENTER, ENTER, ENTER, "jane file:/a #b"], "has a # or ; at its beginning or after a space"),
        ([ENTER, ENTER, ENTER, ENTER, ENTER, "su"], "it is one of password, nopasswd, helper, none"),
        ([ENTER, ENTER, ENTER, "a,b", ENTER, "helper"], "helper: it mounts no share with a comma"),
        ([ENTER, "box", ENTER, "serve = lab", "a b"], "is, with serve = lab, letters, digits"),
        ([ENTER, "box", ENTER, "serve = lab", ENTER, "none"], "none: the share is to be the lab's"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_answer_is_refused_with_its_reason_and_asked_again(lines: list[str], complaint: str) -> None:
    # after it comes an answer that is right, to this question and to the rest
    right = {1: "1", 2: "4", 3: ENTER, 4: ENTER, 5: ENTER, 6: "password"}
    _, asked = interviewed([*lines, *(right[number] for number in range(len(lines), 7))])
    assert any(line.startswith(f"   {complaint}") for line in asked), asked
    assert len(questions(asked)) == 6


def test_a_number_whose_host_has_no_address_is_typed_again_with_one() -> None:
    nameless = replace(SURROUNDINGS, machines=[], ssh_hosts=["client", "server"], resolve=lambda name: None)
    lines = [ENTER, ENTER, ENTER, ENTER, "3", "3 192.168.77.9", "joe", "serve = lab", ENTER, ENTER]
    answers, screen = interviewed(lines, nameless)
    assert (answers.server.host, answers.server.address) == ("server", "192.168.77.9")
    second = screen[screen.index("2. Which machine has the share (the server)?") + 1 :]
    told = "   this machine finds no address of {}: type {} ADDRESS, with its address on the link to measure"
    assert second[2:12] == [
        "   3) server, of ~/.ssh/config",
        "   or type [USER@]NAME as for ssh, then its address on the link if that differs",
        "   [2] > ",
        told.format("client", 2),
        "   > ",  # Enter does not take again what was refused
        "   type an answer; Ctrl-C ends this, and nothing is written",
        "   > ",
        "   > ",
        told.format("server", 3),
        "   > ",
    ]


def test_a_share_may_be_called_as_a_number_that_no_list_has() -> None:
    assert interviewed([ENTER, ENTER, ENTER, "2026", ENTER, ENTER])[0].share == ShareAnswer("smb", "2026")
    nothing = replace(SURROUNDINGS, list_shares=lambda address, services: [])
    assert interviewed([ENTER, ENTER, ENTER, "7", ENTER, ENTER], nothing)[0].share == ShareAnswer("smb", "7")


def test_a_screen_of_choices_is_enough() -> None:
    many = replace(SURROUNDINGS, ssh_hosts=[f"host{number}" for number in range(500)])
    answers, screen = interviewed([ENTER] * 6, many)
    assert answers.server.name == "nas.local"
    assert f"   {MOST_CHOICES}) host18, of ~/.ssh/config" in screen
    assert f"   {MOST_CHOICES + 2}) Big NAS: nas.local, 192.168.1.5 by en0: AFP, SMB" in screen


@given(st.lists(st.text(max_size=30), max_size=12))
def test_whatever_is_typed_there_are_answers_or_the_input_ends(lines: list[str]) -> None:
    with suppress(BadInput, AssertionError):
        interviewed(lines)
