"""Shell functions that tell one process of a host from every other; scripts of other modules begin with them."""

from __future__ import annotations

from lab.base.scripts import read_script

STARTED = read_script(__file__, "started.sh")
IS_ALIVE = STARTED + read_script(__file__, "alive.sh")
SSH_SESSION = read_script(__file__, "ssh_session.sh")  # after STARTED
ANY_OF = read_script(__file__, "any_of.sh")
END_ORPHANS = read_script(__file__, "end_orphans.sh")
