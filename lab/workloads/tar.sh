# shellcheck shell=sh
# $1 the source, $2 the target, both with the same name, $3 a remote shell, or empty for two folders of this host. With a
# remote shell, one of them begins with LOGIN and a colon. The archive only goes through a pipe. -o: whoever unpacks owns the
# files, even root. -m: do not keep times, which not every mount can. Apple's tar must not put attributes into extra files.
COPYFILE_DISABLE=1
export COPYFILE_DISABLE
quote() { printf %s "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"; }
# $1 what tar is to do, $2 LOGIN:PATH
remotely() {
    # shellcheck disable=SC2034  # eval reads it
    path=${2#*:}
    eval "$remote_shell"' -- "${2%%:*}" "COPYFILE_DISABLE=1; export COPYFILE_DISABLE; $(command_for "$1" "$path")"'
}
# The command of one end
command_for() {
    folder=$(quote "${2%/*}")
    case $1 in
        pack) echo "tar -C $folder -cf - $(quote "${2##*/}")" ;;
        unpack) echo "tar -C $folder -xmof -" ;;
    esac
}
# $1 what tar is to do, $2 where
one_end() {
    if [ -n "$remote_shell" ] && [ "${2#/}" = "$2" ]; then remotely "$1" "$2"; else eval "$(command_for "$1" "$2")"; fi
}
remote_shell=$3
{ one_end pack "$1" || { echo "tar: could not pack" >&2; kill -s TERM $$; }; } | one_end unpack "$2"
