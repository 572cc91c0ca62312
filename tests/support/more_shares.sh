# shellcheck shell=sh
# Beside what linux_servers.sh serves over SMB: a share that is read-only, one that is full soon, one that is encrypted.
mkdir -p /mnt/small && mount -t tmpfs -o size=8m,mode=777 small /mnt/small &&
    cat >> /run/servers/smb.conf <<C && kill -s HUP "$(cat /run/servers/smbd.pid)"
[readonly]
path = /mnt/share
[small]
path = /mnt/small
read only = no
[sealed]
path = /mnt/share
read only = no
smb encrypt = required
C
