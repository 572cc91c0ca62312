# shellcheck shell=sh
# After named_device_functions.sh.
# Whether what is mounted from $1 lies on a device that is gone.
is_gone() { case $1 in /dev/*) ! (look_at "$1" 2>/dev/null) ;; *) false ;; esac; }

# `mounted` where a device $2 is what is mounted at a folder, which the table of mounts shows as $1, or one that is gone: its name may be
# that of another one since, or it may be back as one. `absent` where nothing is; else what there is. `source` is what is mounted.
mount_state() {
    source=$(grep -F " $1 " /proc/self/mounts | sed 's/ .*//')
    if [ -z "$source" ]; then echo absent
    elif [ "$(readlink -f -- "$source")" = "$(readlink -f -- "$2")" ] || is_gone "$source"; then echo mounted
    else echo "mounted $source"
    fi
}
