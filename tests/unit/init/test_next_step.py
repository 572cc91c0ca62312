"""What comes after the hosts file."""

from pathlib import Path

from support.surroundings import WITH_MOUNT, interviewed

from lab.init.next_step import describe

ENTER = ""


def told(*lines: str, path: str = "hosts.ini", problems: bool = False) -> list[str]:
    return list(describe(interviewed(lines)[0], Path(path), problems))


def test_who_sits_at_the_client_measures_the_share_of_a_nas_by_its_url() -> None:
    url = "smb://ann%20b@192.168.77.2/Time%20Machine"
    assert told(ENTER, ENTER, ENTER, "2", "ann b", ENTER) == ["next:", f"  lab measure {url}"]
    assert told(ENTER, ENTER, ENTER, "/srv/x y", ENTER) == ["next:", "  lab measure nfs://192.168.77.2/srv/x%20y"]
    answers, _ = interviewed([ENTER] * 5, WITH_MOUNT)
    assert list(describe(answers, Path("hosts.ini"), False)) == ["next:", "  lab measure /Volumes/media"]


def test_a_login_on_the_server_and_the_source_of_a_password_are_told_to_measure() -> None:
    assert told(ENTER, "box", "joe", "media /srv/media", "ann env", ENTER)[-3:] == [
        "  lab measure smb://ann@192.168.1.9/media --server joe@box --password env:SHARE_PASSWORD",
        "  lab plan share",
        "  lab run share",
    ]


def test_two_hosts_run_a_sweep_that_fits_the_share() -> None:
    assert told(ENTER, "box", ENTER, "serve = lab", ENTER, ENTER) == ["next:", "  lab plan macs", "  lab run macs"]
    share = told("mini", "box", ENTER, "media /srv/media", ENTER, ENTER, path="a b.ini")
    assert share == ["next:", "  lab plan share", "  lab run share --hosts 'a b.ini'"]
    (copied, *_) = told("mini", "box", ENTER, "/srv/x", ENTER)
    assert copied.endswith('/sweeps/share.toml measures SMB: give protocol = ["nfs"] in a copy of it')


def test_what_only_a_person_can_do_is_said_first() -> None:
    assert told("mini", "box", ENTER, "media", "ann keyring", "helper")[:4] == [
        "to do: `keyring set file-share-lab ann` puts the share's password into the keyring",
        "to do: hosts.ini: [share] path = /srv/media is a guess: put in the share's folder on the server",
        "to do: `lab host install` puts the lab's helper there",
        "next:",
    ]
    variable = told(ENTER, ENTER, ENTER, ENTER, "ann env", ENTER)[0]
    assert variable == "to do: the share's password is taken from the environment variable SHARE_PASSWORD"


def test_problems_come_before_everything_else() -> None:
    first, check, _ = told(*[ENTER] * 6, path="mine.ini", problems=True)
    assert (first, check) == ("next, once no problem is left:", "  lab check --hosts mine.ini")
