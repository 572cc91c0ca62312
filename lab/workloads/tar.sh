# shellcheck shell=sh
# $1 the source, $2 the target, both of one name, $3 a remote shell, or nothing where both are folders of this host. With
# a remote shell one of the two begins with LOGIN and a colon. No process keeps the archive: it goes through a pipe.
# -o: who unpacks owns the files, root too. -m: times are not kept, which not every mount can. Apple's tar would put
# extended attributes into files of their own.
COPYFILE_DISABLE=1
export COPYFILE_DISABLE
quote() { printf %s "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"; }
# $1 what tar is to do, $2 LOGIN:PATH
remotely() {
    # shellcheck disable=SC2034  # eval reads it
    path=${2#*:}
    eval "$remote_shell"' -- "${2%%:*}" "COPYFILE_DISABLE=1; export COPYFILE_DISABLE; $(command_for "$1" "$path")"'
}
# the command of one end
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
