"""Which hosts file an open run belongs to: that of its hosts, of which it may have used some."""

from pathlib import Path

from support.input_files import HOSTS

from lab.hosts.hosts_file import load_hosts
from lab.run.restore.put_back import is_about
from lab.settings.register import OpenRun, describe_hosts

SECOND = "[client.2]\nhost = two.example\ndata_address = 192.0.2.12\n"


def test_a_run_of_the_first_client_belongs_to_the_file_of_all(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS + SECOND)
    config = load_hosts(path)
    hosts = describe_hosts(config.with_clients(1))
    run = OpenRun(
        id="0", folder="/r", hosts_file="/elsewhere", hosts_digest="", hosts=hosts, instance=None, lines=0, since=""
    )
    assert is_about(run, path)
    path.write_text(HOSTS)
    assert is_about(run, path)
    path.write_text(HOSTS.replace("nas.example", "other.example") + SECOND)
    assert not is_about(run, path)


def test_a_run_of_two_clients_does_not_belong_to_a_file_of_one(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS + SECOND)
    hosts = describe_hosts(load_hosts(path))
    run = OpenRun(
        id="0", folder="/r", hosts_file="/elsewhere", hosts_digest="", hosts=hosts, instance=None, lines=0, since=""
    )
    path.write_text(HOSTS)
    assert not is_about(run, path)
