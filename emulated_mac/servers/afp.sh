#!/bin/sh
# Runs netatalk, which keeps a signature, a lock and a cache in folders of the system: here in memory.
# usage: afp.sh STATE   (STATE: the folder of its configuration; runs in new mount and PID namespaces)
set -e
mount -t tmpfs -o mode=755 afp /private/var/lib
mount -t tmpfs -o mode=755 afp /private/var/lock
mkdir /private/var/lib/netatalk
HOME=$1
export HOME
exec netatalk -d -F "$1/afp.conf"
