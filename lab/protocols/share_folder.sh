# source_of FOLDER: what is mounted where the folder lies, as df names it; not what no journal could hold.
source_of() { df -P "$1" 2>/dev/null | sed -n '2s/  *[0-9-][0-9-]*  *[0-9-][0-9-]*  *[0-9-][0-9-]*  *[0-9-]*%*  *\/.*//p' | tr -cd ' -~' | cut -c 1-500; }

# is_there FOLDER SOURCE: whether the same is mounted there as when the folder was made.
is_there() { [ -d "${1%/*}" ] && [ "$(source_of "${1%/*}")" = "$2" ]; }

# state FOLDER SOURCE lab|others
state() {
    if is_there "$1" "$2"; then
        if [ -d "$1" ] && [ ! -L "$1" ]; then echo present; else echo absent; fi
    elif [ "$3" = lab ]; then echo absent
    else echo unmounted
    fi
}

# remove FOLDER SOURCE lab|others: by the account that made it, for root may be nobody on a share. A server may hold a file
# for a while after it was closed.
remove() {
    if is_there "$1" "$2"; then
        # shellcheck disable=SC2034
        for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do rm -rf -- "$1" && [ ! -e "$1" ] && return; sleep 1; done
        return 1
    fi
    [ "$3" = lab ] || { echo "the share is not mounted there any more" >&2; return 1; }
}

# fixed_mode FOLDER NAME: the mode of every file there, as chmod takes it, where none can be changed, whatever chmod says;
# else nothing. FOLDER is the run's own, and NAME nothing that is there.
fixed_mode() {
    (umask 077 && : > "$1/$2") || return
    chmod 640 "$1/$2" 2>/dev/null
    # shellcheck disable=SC2012  # a name of the lab's own
    mode=$(LC_ALL=C ls -ld "$1/$2" | cut -c 2-10)
    others=${mode#???}
    [ "$mode" = rw-r----- ] ||
        printf 'u=%s,g=%s,o=%s\n' "${mode%??????}" "${others%???}" "${others#???}" | tr -d -
    rm -f "$1/$2"
}
