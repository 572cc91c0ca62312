"""What the tools of emulated Macs keep, between two of them and to Samba: the survey finds what their disks hold."""

import json
from collections.abc import Callable
from typing import Any

from support.local_lab import Bench

FINDER = ("resource-fork", "finder-type", "finder-flags", "finder-label")
XATTRS = (*FINDER, "xattr-small", "xattr-empty", "xattr-4k", "xattr-64k", "xattr-128k", "quarantine")
LISTS = ("acl-mac-user", "acl-mac-group", "acl-mac-inherited")
FLAGS = ("flag-nodump", "flag-hidden", "flag-opaque")
# $1 a folder, as the emulation keeps what Linux does not hold: no program of the Mac's is asked
RECORDS = "cat /linux/var/lib/emulated_mac_attributes/* 2>/dev/null"


def survey(bench: Bench, *words: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """The verdicts of a survey, by protocol, tool and what was varied; nothing may have failed in it."""
    done = bench.lab("fidelity", *words, "--store", "ram", "--json", "--hosts", str(bench.hosts))
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    assert (content["failures"], content["left_out"]) == ([], [])
    bench.directory.joinpath("survey.json").write_text(done.stdout)
    return {
        (copy["protocol"], copy["tool"], "".join(copy["options"].values())): {
            name: result["verdict"] for name, result in copy["results"].items()
        }
        for copy in content["copies"]
    }


def of(verdicts: dict[str, str], *names: str) -> set[str]:
    return {verdicts[name] for name in names}


def prepared(new_bench: Callable[..., Bench], client: str, server: str) -> Bench:
    """A lab of these platforms, whose Macs have the Command Line Tools."""
    bench = new_bench("--platform", f"client={client}", "--platform", f"server={server}")
    for host, platform in (("client", client), ("server", server)):
        if platform != "linux":
            bench.inside(host, "xcode-select --install 2>/dev/null")
    return bench


def test_between_two_macs_of_either_engine(new_bench: Callable[..., Bench]) -> None:
    bench = prepared(new_bench, "macos@15.5", "macos@10.15")  # openrsync, and 2.6.9
    ways = ("--protocol", "ssh", "--protocol", "nfs", "--direction", "write")
    verdicts = survey(bench, *ways, "--tool", "cp", "--tool", "rsync-all")
    assert set(verdicts) == {("ssh", "rsync-all", ""), ("nfs", "cp", ""), ("nfs", "rsync-all", "")}
    everything = verdicts["ssh", "rsync-all", ""]
    assert of(everything, *XATTRS, *LISTS, "xattr-link", "hard-link", "data") == {"kept"}
    assert of(everything, *FLAGS) == {"lost"}
    assert (everything["birth"], everything["mtime-nanoseconds"]) == ("changed", "changed")
    # Linux's attributes are none of this survey, and of NFS 3 no attribute has a place but in files beside
    assert "capability" not in everything
    assert of(verdicts["nfs", "cp", ""], *XATTRS) == {"kept"}
    assert of(verdicts["nfs", "cp", ""], *LISTS, *FLAGS) == {"lost"}
    copies = {
        (copy["protocol"], copy["tool"]): copy
        for copy in json.loads((bench.directory / "survey.json").read_text())["copies"]
    }
    over_nfs = copies["nfs", "cp"]
    assert over_nfs["debris"]["._"] >= len(XATTRS)
    assert over_nfs["results"]["resource-fork"]["views"] == {
        "through the mount": "kept", "on the store": "lost", "after a remount": "kept"
    }  # fmt: skip
    assert copies["ssh", "rsync-all"]["command"] == "rsync -a -HSE"
    # as the disk of the server has them, by no program of a Mac's: 128,000 letters, and the list
    records = bench.inside("server", RECORDS)
    assert (b"x" * 128_000).hex() in records
    assert "user:daemon allow read,write" in records


def test_to_samba_without_and_with_its_module_for_macs(new_bench: Callable[..., Bench]) -> None:
    bench = prepared(new_bench, "macos@14", "linux")
    ways = ("--protocol", "smb", "--option", "smb.time_machine=default,false", "--direction", "write", "--tool", "cp")
    verdicts = survey(bench, *ways)
    without, with_module = verdicts["smb", "cp", ""], verdicts["smb", "cp", "false"]
    assert of(without, *XATTRS, "data", "name-apple-double") == {"kept"}
    assert of(with_module, *XATTRS, "name-apple-double") == {"refused"}  # it keeps names that begin with ._ to itself
    assert with_module["data"] == "kept"
    assert of(without, "capability", "acl-user") == {"impossible"}  # which a Mac does not have
