"""What real tools keep over real servers: what is known of them beforehand is what the survey finds."""

import json

from support.local_lab import Bench

WORDS = ("--protocol", "ssh", "--protocol", "smb", "--tool", "cp", "--tool", "rsync-all", "--direction", "write")
ROOTS = ("owner", "device", "acl-user", "acl-default", "xattr-trusted", "capability")


def test_the_survey_finds_what_is_known_of_its_tools(bench: Bench) -> None:
    done = bench.lab("fidelity", *WORDS, "--store", "ram", "--json", "--strict", "--hosts", str(bench.hosts))
    assert done.returncode == 1, done.stderr
    content = json.loads(done.stdout)
    assert (content["failures"], content["left_out"]) == ([], [])
    copies = {(copy["protocol"], copy["tool"]): copy for copy in content["copies"]}
    assert set(copies) == {("ssh", "rsync-all"), ("smb", "cp"), ("smb", "rsync-all")}
    verdicts = {
        key: {name: result["verdict"] for name, result in copy["results"].items()} for key, copy in copies.items()
    }
    everything = verdicts["ssh", "rsync-all"]
    lost = {name for name, verdict in everything.items() if verdict not in ("kept", "impossible")}
    assert lost == {"flag-nodump", "flag-noatime"}  # for which Debian's rsync has no option
    assert {everything[name] for name in (*ROOTS, "name-newline", "mtime-nanoseconds", "hard-link")} == {"kept"}
    plain = verdicts["smb", "cp"]
    assert (plain["data"], plain["mtime-seconds"], plain["fifo"], plain["birth"]) == (
        "kept", "lost", "refused", "impossible"
    )  # fmt: skip
    assert set(copies["smb", "cp"]["results"]["data"]["views"]) == {
        "through the mount", "on the store", "after a remount"
    }  # fmt: skip
    assert {engine["host"] for engine in content["engines"]} == {"client", "server"}
    assert all("--fileflags (no such option)" in engine["post_line"] for engine in content["engines"])
    assert json.loads((bench.newest() / "fidelity.json").read_text()) == content
    assert (bench.newest() / "report" / "fidelity.html").exists()
