"""Shell functions about processes on a host, for the beginning of scripts in other modules."""

from lab.base.scripts import read_script
from lab.hosts.command import shell_function

IS_ALIVE = read_script(__file__, "is_alive.sh")
ACCOUNT_OF = read_script(__file__, "account_of.sh")  # after IS_ALIVE
SIGNAL = read_script(__file__, "signal.pl")
ENDING = IS_ALIVE + ACCOUNT_OF + shell_function("signal", SIGNAL)
SSH_SESSION = read_script(__file__, "ssh_session.sh")  # after ACCOUNT_OF
END_COMMAND = IS_ALIVE + ACCOUNT_OF + read_script(__file__, "end_command.sh")
ANY_OF = read_script(__file__, "any_of.sh")
END_ORPHANS = read_script(__file__, "end_orphans.sh")  # after ENDING
