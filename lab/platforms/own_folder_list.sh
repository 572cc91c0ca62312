# Access control lists of the current folder, which belongs to this account or root. Linux needs setfacl, and a file system
# that supports lists.
is_mac() { [ "$(uname)" = Darwin ]; }

# Without one, the mode is all that counts.
drop_list() {
    if is_mac; then chmod -N . 2>/dev/null; else setfacl -b . 2>/dev/null; fi
    :
}

# list_alone UID: close the folder to all but its owner and the account UID, by a list with that account alone. Fails, and
# leaves it open to all, where the list does not read back so.
list_alone() {
    drop_list
    chmod 1700 .
    if is_mac; then
        account=$(id -un "$1") && chmod +a "user:$account allow $MAC_RIGHTS" . && reads_as_mac "$account" && return
    else
        setfacl -m "u:$1:rwx" . 2>/dev/null && [ "$(getfacl -cn . 2>/dev/null)" = "$(linux_list "$1")" ] && return
    fi
    drop_list
    chmod 1777 .
    return 1
}
MAC_RIGHTS=list,add_file,search,add_subdirectory,delete_child,readattr,writeattr,readextattr,writeextattr,readsecurity
linux_list() { printf '%s\n' user::rwx "user:$1:rwx" group::--- mask::rwx other::---; }
reads_as_mac() {
    # shellcheck disable=SC2012  # find shows no list
    list=$(ls -lde . | sed 1d)
    case $list in *"
"*) return 1 ;; " 0: user:$1 allow "*) ;; *) return 1 ;; esac
    rights=",${list##* },"
    for right in $(echo "$MAC_RIGHTS" | tr , ' '); do case $rights in *",$right,"*) ;; *) return 1 ;; esac; done
}
