"""The hosts file of `lab init`: it loads as it was answered, and replaces nothing but the untouched template."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.input_files import HOSTS
from support.paths import ROOT
from support.surroundings import WITH_MOUNT, interviewed

from lab.base.errors import BadInput
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.sections import check_filled_in, is_untouched
from lab.init.hosts_file import check_place, hosts_text, write
from lab.init.questions import Answers

ENTER = ""


def loaded(folder: Path, answers: Answers) -> Hosts:
    (path := folder / "hosts.ini").write_text(hosts_text(answers), encoding="utf-8")
    return load_hosts(path)


def test_the_kinds_of_hosts_and_shares(tmp_path: Path) -> None:
    nas = loaded(tmp_path, interviewed([ENTER] * 6)[0])  # nobody logs in to it
    client, server, share = nas.client, nas.server, nas.share
    assert (client.transport, client.data_address, client.sudo) == ("local", "192.168.77.1", "password")
    assert (server.host, server.data_address, nas.reached) == (None, "192.168.77.2", ("client",))
    assert (share.serve, share.name, share.path) == ("existing", "media", None)
    assert (share.account, share.password) == ("jane", "prompt")
    lines = ["mini", "joe@box 192.168.77.9", "joe", "media /srv/media", "ann env", "nopasswd"]
    two = loaded(tmp_path, interviewed(lines)[0])
    assert (two.client.host, two.client.user, two.client.sudo) == ("mini", "joe", "nopasswd")
    assert (two.server.host, two.server.user, two.server.data_address) == ("box", "joe", "192.168.77.9")
    assert (two.share.name, two.share.path, two.share.password) == ("media", "/srv/media", "env:SHARE_PASSWORD")
    own = loaded(tmp_path, interviewed([ENTER, "root@box", ENTER, "serve = lab", ENTER, "none"])[0])
    assert (own.share.serve, own.share.account, own.server.sudo, own.client.sudo) == ("lab", "root", "none", "none")
    mounted = loaded(tmp_path, interviewed([ENTER] * 5, WITH_MOUNT)[0]).share
    assert (mounted.serve, mounted.mounted, mounted.account) == ("existing", "/Volumes/media", "")
    export = loaded(tmp_path, interviewed([ENTER, ENTER, ENTER, "3", ENTER])[0]).share
    assert export.path == "/volume1/two words"


ANYTHING = st.text(st.characters(codec="utf-8"), max_size=20)
FIRST = st.sampled_from(["", "mini", "root@mini", "box", "mini 192.168.77.8"])
SECOND = st.sampled_from(["", "2", "root@box", "box 192.168.77.9", "nas.local fd00::2"])
SHARES = st.one_of(ANYTHING, st.builds("{} /{}".format, ANYTHING, ANYTHING), st.just("serve = lab"))
ACCOUNTS = st.one_of(ANYTHING, st.builds("{} {}".format, ANYTHING, st.sampled_from(["env", "keyring", "file:~/a b"])))


@given(st.tuples(FIRST, SECOND, st.sampled_from(["nobody", "root", "jane"]), SHARES, ACCOUNTS))
def test_whatever_is_answered_what_is_written_loads_as_it_was_answered(
    tmp_path_factory: pytest.TempPathFactory, lines: tuple[str, ...]
) -> None:
    for last in ([], ["password"], ["helper"], ["none"]):
        try:
            answers, _ = interviewed([*lines, *last])
        except (BadInput, AssertionError):  # an answer was refused, or there was one question less
            continue
        hosts = loaded(tmp_path_factory.mktemp("any"), answers)
        share = (answers.account.name, answers.share.path or None, answers.share.name or "lab")
        assert (hosts.share.account, hosts.share.path, hosts.share.name) == share
        assert hosts.client.sudo == answers.sudo_of(answers.client)


TEMPLATE = (ROOT / "hosts.ini").read_text(encoding="utf-8")
ANSWERS = interviewed([ENTER] * 6)[0]


@pytest.mark.parametrize("template", ["", TEMPLATE])
def test_a_new_file_is_made_and_the_untouched_template_written_over(tmp_path: Path, template: str) -> None:
    path = tmp_path / "hosts.ini"
    if template:
        path.write_text(template)
    assert check_place(path) == bool(template)
    write(path, ANSWERS)
    assert path.read_text() == hosts_text(ANSWERS)
    assert path.stat().st_mode & 0o022 == 0
    assert not is_untouched(hosts_text(ANSWERS))
    check_filled_in(hosts_text(ANSWERS), path)


@pytest.mark.parametrize("text", [HOSTS, TEMPLATE.replace("client.local", "mini.local")])
def test_a_file_that_somebody_filled_in_stays(tmp_path: Path, text: str) -> None:
    (path := tmp_path / "hosts.ini").write_text(text)
    for attempt in (lambda: check_place(path), lambda: write(path, ANSWERS)):
        with pytest.raises(BadInput, match=r"is there already, and filled in: it is not written over"):
            attempt()
    assert path.read_text() == text


def test_what_is_no_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder", "no/such/hosts.ini"):
        with pytest.raises(BadInput):
            check_place(tmp_path / name)
