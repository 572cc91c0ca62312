"""Names as people give them, spaces and signs included: real servers serve them."""

import pytest
from support.input_files import SHARES
from support.local_lab import HOSTS, Bench
from support.other_samba import other_samba, quoted

EVERY_SIGN = "a b;c'd$(touch x)`id`,e=f#g&h|i*j[k]é😀<m>$u{n}!~"
LONG = "x" * 251 + "😀"


@pytest.mark.parametrize("protocol", ["afp", "smb", "nfs", "ssh"])
def test_folders_of_any_name_serve_and_mount(bench: Bench, protocol: str) -> None:
    folder = f"/srv/disk/{EVERY_SIGN}/{LONG}"
    for host in HOSTS:
        bench.inside(host, f"mkdir -p {quoted(folder)} {quoted(f'/tmp/{EVERY_SIGN}'[:22])}")
    try:
        base = f"/tmp/{EVERY_SIGN}"[:22]
        hosts = bench.changed_hosts(client_mount_base=base, server_mount_base=base, share_path=folder)
        tool = "rsync" if protocol == "ssh" else "cp"
        done = bench.run(hosts=hosts, protocol=[protocol], tool=[tool], store=["ram", "disk"], size="1 MiB")
        assert done.returncode == 0, done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials())
        for host in HOSTS:
            assert bench.inside(host, f"ls -A {quoted(folder)} {quoted(base)} | grep lab || :") == ""
    finally:
        for host in HOSTS:
            bench.inside(host, f"rm -r {quoted(f'/srv/disk/{EVERY_SIGN}')} {quoted(base)}")


def test_a_share_that_was_there_before_may_have_any_name(bench: Bench) -> None:
    failed = {}
    with other_samba(bench, *SHARES):
        for name in SHARES:
            hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/other", share_name=name)
            once = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "1 MiB"}
            done = bench.run(hosts=hosts, **once)
            if done.returncode != 0:
                failed[name] = done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials())
    assert failed == {}
