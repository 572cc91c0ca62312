"""The guide for two machines, followed word by word on emulated Macs: each command is typed as it is printed.

A block says above it where it is typed; ``support/guide.py`` lists what else is typed, and what is not and why.
"""

from collections.abc import Callable
from pathlib import Path

from support.guide import CONTROLLER, OLD_PAGE, PAGE, Reader, pieces
from support.local_lab import HOSTS, Bench
from support.macs import state

MAC, OLD = "macos@15.5", "macos@10.9"


def test_the_guide_can_be_followed_word_by_word(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = new_bench("--platform", MAC)
    before = state(bench, (MAC, MAC))
    reader = Reader(bench, tmp_path, {host: host for host in HOSTS})
    with reader.sits_down():
        for piece in pieces(PAGE.read_text(encoding="utf-8")):
            for place in piece.places:
                reader.type(piece.text, place)
    after = state(bench, (MAC, MAC))
    assert {host: sorted(set(before[host]) ^ set(after[host])) for host in HOSTS} == {host: [] for host in HOSTS}


def test_the_guide_leads_to_an_old_mac(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = new_bench("--platform", "client=linux", "--platform", f"server={OLD}")
    reader = Reader(bench, tmp_path, {"old": "server"})
    with reader.sits_down():
        for piece in pieces(OLD_PAGE.read_text(encoding="utf-8")):
            begin, _, end = piece.text.partition(" … ")
            if end:  # what ssh says until the lines of the page are in its file
                code, said = reader.terminals[CONTROLLER].type("ssh you@old.local")
                assert (code, begin in said, end in said) == (255, True, True), said
            elif piece.text.startswith("Host "):
                with (reader.home / ".ssh/config").open("a") as config:
                    config.write(piece.text)
            else:
                for place in piece.places:
                    reader.type(piece.text, place)
        reader.type("ssh -o BatchMode=yes you@old.local true", CONTROLLER)  # by the key that is there now
