"""What real tools, and tools of emulated Macs, keep of files: the survey finds what is known, and what disks hold."""

import json
from collections.abc import Callable
from typing import Any

from support.local_lab import Bench

ROOTS = ("owner", "device", "acl-user", "acl-default", "xattr-trusted", "capability")
FINDER = ("resource-fork", "finder-type", "finder-flags", "finder-label")
XATTRS = (*FINDER, "xattr-small", "xattr-empty", "xattr-4k", "xattr-64k", "xattr-128k", "quarantine")
LISTS = ("acl-mac-user", "acl-mac-group", "acl-mac-inherited")
FLAGS = ("flag-nodump", "flag-hidden", "flag-opaque")
# where the emulation keeps what Linux does not hold: no program of the Mac is asked
RECORDS = "cat /linux/var/lib/emulated_mac_attributes/* 2>/dev/null"


class Survey:
    """The copies of a survey, by protocol, tool and varied option; nothing failed or was left out."""

    def __init__(self, bench: Bench, words: str, exit_code: int = 0):
        options = ("--store", "ram", "--direction", "write", "--json", "--hosts", str(bench.hosts))
        done = bench.lab("fidelity", *words.split(), *options)
        assert done.returncode == exit_code, done.stderr
        self.content: dict[str, Any] = json.loads(done.stdout)
        assert (self.content["failures"], self.content["left_out"]) == ([], [])
        self.copies = {
            (copy["protocol"], copy["tool"], *filter(None, copy["options"].values())): copy
            for copy in self.content["copies"]
        }

    def verdicts(self, *copy: str) -> dict[str, str]:
        return {name: result["verdict"] for name, result in self.copies[copy]["results"].items()}


def only(verdicts: dict[str, str], *names: str) -> set[str]:
    return {verdicts[name] for name in names}


def test_the_survey_finds_what_is_known_of_its_tools(bench: Bench) -> None:
    survey = Survey(bench, "--protocol ssh --protocol smb --tool cp --tool rsync-all --strict", exit_code=1)
    assert set(survey.copies) == {("ssh", "rsync-all"), ("smb", "cp"), ("smb", "rsync-all")}
    everything = survey.verdicts("ssh", "rsync-all")
    lost = {name for name, verdict in everything.items() if verdict not in ("kept", "impossible")}
    assert lost == {"flag-nodump", "flag-noatime"}  # Debian's rsync has no option for them
    assert only(everything, *ROOTS, "name-newline", "mtime-nanoseconds", "hard-link") == {"kept"}
    plain = survey.verdicts("smb", "cp")
    assert [plain[name] for name in ("data", "mtime-seconds", "fifo", "birth")] == [
        "kept", "lost", "refused", "impossible"
    ]  # fmt: skip
    views = survey.copies["smb", "cp"]["results"]["data"]["views"]
    assert set(views) == {"through the mount", "on the store", "after a remount"}
    engines = survey.content["engines"]
    assert {engine["host"] for engine in engines} == {"client", "server"}
    assert all("--fileflags (no such option)" in engine["post_line"] for engine in engines)
    assert json.loads((bench.newest() / "fidelity.json").read_text()) == survey.content
    assert (bench.newest() / "report" / "fidelity.html").exists()


def prepared(new_bench: Callable[..., Bench], client: str, server: str) -> Bench:
    """A lab of these platforms, whose Macs have the Command Line Tools."""
    bench = new_bench("--platform", f"client={client}", "--platform", f"server={server}")
    for host, platform in (("client", client), ("server", server)):
        if platform != "linux":
            bench.inside(host, "xcode-select --install 2>/dev/null")
    return bench


def test_between_two_macs_of_either_engine(new_bench: Callable[..., Bench]) -> None:
    bench = prepared(new_bench, "macos@15.5", "macos@10.15")  # openrsync, and 2.6.9
    survey = Survey(bench, "--protocol ssh --protocol nfs --tool cp --tool rsync-all")
    assert set(survey.copies) == {("ssh", "rsync-all"), ("nfs", "cp"), ("nfs", "rsync-all")}
    everything = survey.verdicts("ssh", "rsync-all")
    assert only(everything, *XATTRS, *LISTS, "xattr-link", "hard-link", "data") == {"kept"}
    assert only(everything, *FLAGS) == {"lost"}
    assert (everything["birth"], everything["mtime-nanoseconds"]) == ("changed", "changed")
    assert "capability" not in everything  # an attribute of Linux
    # NFS 3 has a place for attributes only in files beside
    assert only(survey.verdicts("nfs", "cp"), *XATTRS) == {"kept"}
    assert only(survey.verdicts("nfs", "cp"), *LISTS, *FLAGS) == {"lost"}
    over_nfs = survey.copies["nfs", "cp"]
    assert over_nfs["debris"]["._"] >= len(XATTRS)
    views = over_nfs["results"]["resource-fork"]["views"]
    assert views == {"through the mount": "kept", "on the store": "lost", "after a remount": "kept"}
    assert survey.copies["ssh", "rsync-all"]["command"] == "rsync -a -HSE"
    records = bench.inside("server", RECORDS)  # 128,000 letters, and the access control list
    assert (b"x" * 128_000).hex() in records
    assert "user:daemon allow read,write" in records


def test_to_samba_without_and_with_its_module_for_macs(new_bench: Callable[..., Bench]) -> None:
    bench = prepared(new_bench, "macos@14", "linux")
    survey = Survey(bench, "--protocol smb --option smb.time_machine=default,false --tool cp")
    without, with_module = survey.verdicts("smb", "cp"), survey.verdicts("smb", "cp", "false")
    assert only(without, *XATTRS, "data", "name-apple-double") == {"kept"}
    assert only(with_module, *XATTRS, "name-apple-double") == {"refused"}  # it keeps names that begin with ._ to itself
    assert with_module["data"] == "kept"
    assert only(without, "capability", "acl-user") == {"impossible"}  # a Mac has neither
