# shellcheck shell=sh
# After named_device_functions.sh.
# Whether the mount source $1 is a device that is gone.
is_gone() { case $1 in /dev/*) ! (look_at "$1" 2>/dev/null) ;; *) false ;; esac; }

# `mounted` if the device $2, or one that is gone, is mounted at the folder that the mount table shows as $1: a device that is gone may come
# back under another name. `absent` if nothing is mounted; else what is. Sets `source`.
mount_state() {
    source=$(grep -F " $1 " /proc/self/mounts | sed 's/ .*//')
    if [ -z "$source" ]; then echo absent
    elif [ "$(readlink -f -- "$source")" = "$(readlink -f -- "$2")" ] || is_gone "$source"; then echo mounted
    else echo "mounted $source"
    fi
}
