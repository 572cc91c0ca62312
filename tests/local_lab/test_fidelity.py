"""What real tools keep over real servers: what is known of them beforehand is what the survey finds."""

from __future__ import annotations

import json

from support.local_lab import Bench

WORDS = ("fidelity", "--store", "ram", "--tool", "cp", "--tool", "rsync-a", "--tool", "rsync-all", "--json")


def test_the_survey_finds_what_is_known_of_its_tools(bench: Bench) -> None:
    done = bench.lab(*WORDS, "--hosts", str(bench.hosts), "--protocol", "ssh", "--protocol", "smb", "--strict")
    assert done.returncode == 1, done.stderr
    content = json.loads(done.stdout)
    assert (content["failures"], content["left_out"]) == ([], [])
    verdicts = {
        (copy["protocol"], copy["tool"], copy["direction"]): {
            name: result["verdict"] for name, result in copy["results"].items()
        }
        for copy in content["copies"]
    }
    directions = ("write", "read")
    assert set(verdicts) == {("ssh", tool, way) for tool in ("rsync-a", "rsync-all") for way in directions} | {
        ("smb", tool, way) for tool in ("cp", "rsync-a", "rsync-all") for way in directions
    }
    for way in directions:
        assert {verdicts["ssh", "rsync-a", way][name] for name in ("xattr-small", "acl-user", "hard-link")} == {"lost"}
        everything = verdicts["ssh", "rsync-all", way]
        assert {name for name, verdict in everything.items() if verdict not in ("kept", "impossible")} <= {
            "atime", "flag-nodump", "flag-noatime"
        }  # fmt: skip
        assert everything["name-newline"] == everything["owner"] == everything["mtime-nanoseconds"] == "kept"
        assert verdicts["smb", "cp", way]["data"] == "kept"
        assert verdicts["smb", "cp", way]["mtime-seconds"] == "lost"
    assert {engine["host"] for engine in content["engines"]} == {"client", "server"}
    assert all("--fileflags (no such option)" in engine["post_line"] for engine in content["engines"])
    assert json.loads((bench.newest() / "fidelity.json").read_text()) == content
