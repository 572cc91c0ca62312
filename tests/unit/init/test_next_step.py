"""What comes after the hosts file."""

from __future__ import annotations

from pathlib import Path

from support.surroundings import interviewed

from lab.init.next_step import next_commands, open_points

ENTER = ""
HERE = Path("hosts.ini")


def test_who_sits_at_the_client_measures_the_share_of_a_nas_by_its_url() -> None:
    answers, _ = interviewed([ENTER, ENTER, ENTER, "2", "ann b", ENTER])
    assert next_commands(answers, HERE) == ["lab measure smb://ann%20b@192.168.77.2/Time%20Machine"]
    export, _ = interviewed([ENTER, ENTER, ENTER, "/srv/x y", ENTER])
    assert next_commands(export, HERE) == ["lab measure nfs://192.168.77.2/srv/x%20y"]


def test_two_hosts_run_a_sweep_that_fits_the_share() -> None:
    lab, _ = interviewed([ENTER, "box", ENTER, "serve = lab", ENTER, ENTER])
    assert next_commands(lab, HERE) == ["lab plan sweeps/macs.toml", "lab run sweeps/macs.toml"]
    share, _ = interviewed([ENTER, "box", ENTER, "media", ENTER, ENTER])
    assert next_commands(share, Path("a b.ini"))[1] == "lab run sweeps/share.toml --hosts 'a b.ini'"


def test_what_only_a_person_can_do_is_said() -> None:
    answers, _ = interviewed([ENTER, "box", ENTER, "media", "ann keyring", "helper"])
    assert list(open_points(answers, HERE)) == [
        "`keyring set file-share-lab ann` puts the share's password into the keyring",
        "hosts.ini: [share] path = /srv/media is a guess: put in the share's folder on the server",
        "`lab host install` puts the lab's helper there",
    ]
    answers, _ = interviewed([ENTER, ENTER, ENTER, ENTER, "ann env", ENTER])
    assert list(open_points(answers, HERE)) == [
        "the share's password is taken from the environment variable SHARE_PASSWORD"
    ]
