# $1 is the folder of the control socket; then the ssh command. Standard input is a pipe from the lab. When it ends, at the
# latest with the lab, ssh and its ProxyCommand are ended and the folder is removed. The process that waits for it is in
# their process group, so that nobody else can get the group's number.
exec 3<&0
{ trap "" TERM; read -r _ <&3; kill -s TERM -- "-$$"; rm -rf -- "$1"; } >/dev/null 2>&1 &
shift
exec "$@" </dev/null 3<&-
