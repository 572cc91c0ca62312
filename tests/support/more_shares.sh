# shellcheck shell=sh
# Beside what linux_servers.sh serves over SMB: a share that is read-only, one that is full soon, the same as a
# quota makes it, of which nobody tells before it is reached, and one that is encrypted.
mkdir -p /mnt/small && mount -t tmpfs -o size=8m,mode=777 small /mnt/small &&
    printf '#!/bin/sh\necho 100000000 100000000 1024\n' > /run/servers/much_space && chmod 755 /run/servers/much_space &&
    cat >> /run/servers/smb.conf <<C && kill -s HUP "$(cat /run/servers/smbd.pid)"
[readonly]
path = /mnt/share
[small]
path = /mnt/small
read only = no
[quota]
path = /mnt/small
read only = no
dfree command = /run/servers/much_space
[sealed]
path = /mnt/share
read only = no
smb encrypt = required
C
