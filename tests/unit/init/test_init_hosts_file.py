"""The hosts file of `lab init`: it loads as it was answered, and replaces nothing but the untouched template."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.input_files import write_hosts
from support.paths import ROOT
from support.surroundings import WITH_MOUNT, interviewed

from lab.base.errors import BadInput
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.sections import check_filled_in, is_untouched
from lab.init.answers import Answers
from lab.init.hosts_file import check_place, hosts_text, write

ENTER = ""


def loaded(folder: Path, answers: Answers) -> Hosts:
    path = folder / "hosts.ini"
    path.write_text(hosts_text(answers), encoding="utf-8")
    return load_hosts(path)


def test_this_machine_and_a_nas_that_lets_nobody_in(tmp_path: Path) -> None:
    hosts = loaded(tmp_path, interviewed([ENTER] * 6)[0])
    assert hosts.reached == ("client",)
    client = hosts.client
    assert (client.transport, client.data_address, client.sudo) == ("local", "192.168.77.1", "password")
    assert (hosts.server.host, hosts.server.data_address) == (None, "192.168.77.2")
    assert (hosts.share.serve, hosts.share.name, hosts.share.path) == ("existing", "media", None)
    assert (hosts.share.account, hosts.share.password) == ("jane", "prompt")


def test_two_hosts_with_ssh_and_an_existing_share(tmp_path: Path) -> None:
    lines = ["mini", "joe@box 192.168.77.9", "joe", "media /srv/media", "ann env", "nopasswd"]
    hosts = loaded(tmp_path, interviewed(lines)[0])
    assert (hosts.client.host, hosts.client.user, hosts.client.sudo) == ("mini", "joe", "nopasswd")
    assert (hosts.server.host, hosts.server.user, hosts.server.data_address) == ("box", "joe", "192.168.77.9")
    assert (hosts.share.name, hosts.share.path) == ("media", "/srv/media")
    assert hosts.share.password == "env:SHARE_PASSWORD"


def test_a_share_of_the_labs_own(tmp_path: Path) -> None:
    hosts = loaded(tmp_path, interviewed([ENTER, "root@box", ENTER, "serve = lab", ENTER, "none"])[0])
    assert (hosts.share.serve, hosts.share.account) == ("lab", "root")
    assert [hosts.server.sudo, hosts.client.sudo] == ["none", "none"]


def test_a_share_that_is_mounted_here(tmp_path: Path) -> None:
    share = loaded(tmp_path, interviewed([ENTER] * 5, WITH_MOUNT)[0]).share
    assert (share.serve, share.mounted, share.account) == ("existing", "/Volumes/media", "")


def test_an_export_of_nfs(tmp_path: Path) -> None:
    hosts = loaded(tmp_path, interviewed([ENTER, ENTER, ENTER, "3", ENTER])[0])
    assert hosts.share.path == "/volume1/two words"


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
        assert hosts.share.account == answers.account.name
        assert hosts.share.path == (answers.share.path or None)
        assert hosts.share.name == (answers.share.name or "lab")
        assert hosts.client.sudo == answers.sudo_of(answers.client)


def test_a_file_of_lab_init_is_no_template() -> None:
    text = hosts_text(interviewed([ENTER] * 6)[0])
    assert not is_untouched(text)
    check_filled_in(text, Path("hosts.ini"))


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


def test_a_file_that_somebody_filled_in_stays(tmp_path: Path) -> None:
    path = write_hosts(tmp_path)
    before = path.read_bytes()
    for attempt in (lambda: check_place(path), lambda: write(path, ANSWERS)):
        with pytest.raises(BadInput, match=r"is there already, and filled in: it is not written over"):
            attempt()
    assert path.read_bytes() == before


def test_a_half_filled_template_stays(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(TEMPLATE.replace("client.local", "mini.local"))
    with pytest.raises(BadInput, match="filled in"):
        check_place(path)


def test_what_is_no_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder", "no/such/hosts.ini"):
        with pytest.raises(BadInput):
            check_place(tmp_path / name)
