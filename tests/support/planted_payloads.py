"""Somebody with an account on both hosts sees a payload's name on the client, and plants a link for it on the server.

He is always in time, for the client's `cp` waits for him.
"""

import re

from support.attackers import NOBODY
from support.local_lab import Bench

AS_NOBODY = " ".join(NOBODY)
AS_NEIGHBOUR = "setpriv --reuid=neighbour --regid=users --clear-groups --"
SLOW_CP = """
mkdir -m 755 /run/slow; cat > /usr/local/bin/cp <<'END'; chmod 755 /usr/local/bin/cp
#!/bin/sh
case $* in *.bin*)
    tries=0
    touch /run/slow/waits
    until [ -e /run/slow/go ] || [ $tries -gt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done ;;
esac
exec /bin/cp "$@"
END
"""
NAMES = f"""
tries=0
until [ -e /run/slow/waits ]; do sleep 0.05; tries=$((tries + 1)); [ $tries -lt 2400 ] || exit 1; done
{AS_NOBODY} ps -eo args=
"""
VICTIM = "umask 077; echo theirs > /srv/other/precious; chown {writer} /srv/other/precious"


def planted(
    bench: Bench,
    writer: str,
    plant: str = "ln -s",
    before: str = "",
    attacker: str = AS_NOBODY,
    stays_open: bool = False,
) -> str:
    """Write by a share as an account ``writer``; what is in a file of that account's then, which is not for others.

    ``plant`` is the command by which the ``attacker`` gives that file the payload's name, ``before`` one of root's
    before that. The run must say whether the folder ``stays_open``.
    """
    bench.inside("server", VICTIM.format(writer=writer))
    bench.inside("client", SLOW_CP)
    hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/other", share_name="media")
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], direction=["write"], store=["disk"], size="1 MiB")
    try:
        with bench.started("run", "--hosts", str(hosts), str(sweep)) as run:
            (path,) = set(re.findall(r"/(file-share-lab-\w+/b\S+\.bin)$", bench.inside("client", NAMES), re.MULTILINE))
            folder = f"/srv/other/{path.partition('/')[0]}"
            bench.inside("server", before.format(folder=folder))
            planting = f"{attacker} {plant} /srv/other/precious /srv/other/{path} 2>/dev/null; :"
            bench.inside("server", planting)
            bench.inside("client", "touch /run/slow/go")
            output, _ = run.communicate(timeout=300)
        assert ("stays open" in output) == stays_open, output
        bench.wait_until_free()
        return bench.inside("server", "head -c 7 /srv/other/precious | tr -c 'a-z\\n' ?")
    finally:
        bench.inside("client", "rm -rf /run/slow /usr/local/bin/cp")
