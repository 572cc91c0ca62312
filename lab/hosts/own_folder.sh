# Functions for the lab's own folders. Anybody who can write into a folder can swap what is in it, or put a link there. So a
# folder is entered first and checked as `.`, which nobody can swap. A run enters such folders often: few programs are run.

# who: set `me` to the number of this account. / belongs to root: whoever owns it is root.
# shellcheck disable=SC3067  # every shell knows -O, if not POSIX
who() { [ -n "$me" ] || if [ -O / ]; then me=0; else me=$(id -u); fi; }
me=

# is_closed MODE OWNER GROUP: whether others cannot move entries of such a folder. A group with the owner's number is
# taken as the owner's own.
is_closed() {
    case $1 in
        ?????????[tT]*) ;;
        ????????w*) false ;;
        ?????w*) [ "$3" = 0 ] || [ "$3" = "$2" ] ;;
    esac
}

# stands_firm OWNERS: whether nobody can move the current folder, or one above it, but root, this account and, if OWNERS is
# `any`, the owners of these folders. Sets mode and owner of the current one. One `ls` looks at all.
stands_firm() {
    who
    owners=$1 here=$(pwd -P) up=. levels=. words=9
    while [ "${here#/}" ]; do
        here=${here%/*} up=$up/.. levels="$levels $up" words=$((words + 9))
    done
    # shellcheck disable=SC2046,SC2086  # a line of `ls` has nine words, and no name here has a blank
    set -- $(ls -ldn $levels)
    [ $# = $words ] || return
    mode=$1 owner=$3
    while [ $# -gt 0 ]; do
        is_closed "$1" "$3" "$4" && { [ "$owners" = any ] || [ "$3" = 0 ] || [ "$3" = "$me" ]; } || return
        shift 9
    done
}

# is_ours MODE: whether the current folder belongs to this account, has this mode, and nobody else can move it.
is_ours() {
    stands_firm us && [ "$owner" = "$me" ] || return
    case $mode in "$1" | "$1"[.@+]) ;; *) false ;; esac
}

# go PATH: enter a folder that is no link. A folder above it may be a link, as /tmp of a Mac is.
go() {
    cd -P "${1%/*}/" 2>/dev/null && above=$PWD && cd -P "./${1##*/}" 2>/dev/null &&
        [ "$(pwd -P)" = "${above%/}/${1##*/}" ] # bash makes PWD from the words that it got, before it enters
}

# enter PATH: enter a folder of our own that nobody else can enter.
enter() { go "$1" && is_ours drwx------; }

# find_home: set `home` to the folder that contains all of the lab's, without links. It may not exist yet.
find_home() {
    [ -z "$home" ] || return 0
    below=
    who
    if [ "$me" != 0 ]; then above=$HOME below=/.local
    elif [ -d /private/var/db ]; then above=/var/db # a Mac
    else above=/var/lib; fi
    above=$(cd -P "$above" && pwd -P) && home=${above%/}$below/file-share-lab
}
home=

# enter_home: enter that folder; create it if missing.
enter_home() {
    find_home || return
    [ "$me" = 0 ] || (umask 077 && mkdir -p "${home%/*}")
    if cd -P "${home%/*}" && stands_firm us; then
        [ -d "$home" ] || mkdir -m 711 "$home" 2>/dev/null
        go "$home" && is_ours drwx--x--x && return
    fi
    echo "$home is not the lab's own folder, or others can write into one above it" >&2
    return 1
}
