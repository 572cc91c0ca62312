"""Whether a run may change the server of an existing share, or only watches it."""

import shutil
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost
from support.pairs import hosts_model

from lab.base.errors import Unsupported
from lab.hosts import own_folder
from lab.platforms.linux.platform import Linux
from lab.platforms.macos.platform import MacOS
from lab.run.restore import watched
from lab.run.restore.watched import check_may_change, fitted, fitted_to

WAY_BACK = ("perl", "ps", "awk")
REAL = (
    "sh", "cat", "grep", "id", "kill", "ls", "mkdir", "mktemp", "rm", "rmdir", "sed", "sleep", "tail", "tr", "true",
    "uname",
)  # fmt: skip
pytestmark = pytest.mark.skipif(not all(map(shutil.which, WAY_BACK)), reason="needs perl, ps and awk")
PERL, ROOT = "perl is missing, which puts back what a run changes", "its account gets no root: sudo: no"


@pytest.mark.parametrize(
    ("lacking", "server", "why", "measures_link"),
    [
        ("", {}, "", True), ("iperf3", {}, "", False), ("iperf3", {"iperf3": "192.0.2.9"}, "", True),
        ("perl", {}, PERL, False), ("perl", {"iperf3": "192.0.2.9"}, PERL, True),
        ("perl", {"sudo": "password"}, PERL, False), ("perl", {"tune": "yes"}, PERL, False),
        ("root", {}, ROOT, False), ("root", {"sudo": "password"}, "", True),
        ("place", {}, "it has no place for the lab's own folder: full", False),
        ("rmdir", {}, "a process or a folder of a run could not be removed there", False), ("journal", {}, "", True),
    ],
)  # fmt: skip
def test_a_server_that_serves_already_is_only_watched_where_nothing_could_be_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str, server: dict[str, str], why: str, measures_link: bool
) -> None:
    home = "echo full >&2; exit 1" if lacking == "place" else "echo /var/lib/file-share-lab"
    monkeypatch.setattr(own_folder, "LAB_HOME", home)
    if lacking == "journal":  # what a run left there is not passed over, although perl is gone
        monkeypatch.setattr(watched, "HAS_JOURNAL", "true")
    emulated = {"iperf3": ":"} if lacking != "iperf3" else {}
    refused = {"true": "echo sudo: no >&2; exit 1"} if lacking == "root" else {}
    real = [name for name in (*REAL, *WAY_BACK) if name != {"journal": "perl"}.get(lacking, lacking)]
    host = EmulatedHost(tmp_path, emulated | refused, real, "server")
    given = hosts_model(server=server)
    config = fitted_to(given, Linux(host))
    assert config.measures_link == measures_link
    if not why:
        assert (config.unseen, config.changed, config.through_mount) == (None, ("client", "server"), False)
    else:
        assert config.unseen is not None
        assert config.unseen.message.startswith(f"the server is only watched ({why}")
        assert (config.changed, config.reached) == (("client",), given.reached)
        assert (config.through_mount, config.may_tune("server")) == (True, False)
        assert config.seen_by("client").unseen is config.unseen
    if lacking == "perl":  # where the lab serves, or on a client, that ends the run
        with pytest.raises(Unsupported, match=f"server: {why}"):
            check_may_change(Linux(host))
    assert fitted_to(lab := hosts_model(server=server, share={"serve": "lab"}), Linux(host)) is lab
    assert fitted_to(given, MacOS(host)) is given


def test_a_server_that_nobody_logs_in_to_is_not_asked() -> None:
    config = hosts_model()
    assert fitted(config, {}) is config
