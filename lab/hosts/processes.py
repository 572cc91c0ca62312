"""Shell functions that tell one process of a host from every other; scripts of other modules begin with them."""

from __future__ import annotations

from lab.base.scripts import read_script
from lab.hosts.perl import shell_function

STARTED = read_script(__file__, "started.sh")
IS_ALIVE = STARTED + read_script(__file__, "alive.sh")
ACCOUNT_OF = read_script(__file__, "account_of.sh")  # after STARTED
SIGNAL = read_script(__file__, "signal.pl")
ENDING = IS_ALIVE + ACCOUNT_OF + shell_function("signal", SIGNAL)
SSH_SESSION = read_script(__file__, "ssh_session.sh")  # after ACCOUNT_OF
END_COMMAND = IS_ALIVE + ACCOUNT_OF + read_script(__file__, "end_command.sh")
ANY_OF = read_script(__file__, "any_of.sh")
END_ORPHANS = read_script(__file__, "end_orphans.sh")  # after ENDING
