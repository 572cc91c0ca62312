# shellcheck shell=sh
# $1 the folder of the control socket and all that belongs to it, then the command that is ssh.
# Standard input is a pipe of the lab's. When it ends, with the lab or before, ssh and its ProxyCommand are ended, and
# their folder goes. What waits for that is in their process group, so that its number cannot become another's.
exec 3<&0
{ trap "" TERM; read -r _ <&3; kill -s TERM -- "-$$"; rm -rf -- "$1"; } >/dev/null 2>&1 &
shift
exec "$@" </dev/null 3<&-
