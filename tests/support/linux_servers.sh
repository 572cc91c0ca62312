# shellcheck shell=sh
# Serves /mnt/share, on memory, over SMB, NFS and AFP to anybody who knows the password $1 of the account lab.
set -e
mkdir -p /mnt/share /mnt/root_only /run/servers && mount -t tmpfs -o mode=777 share /mnt/share
mount -t tmpfs -o mode=777 root_only /mnt/root_only
cd /run/servers
cat > smb.conf <<C
[global]
server role = standalone server
disable netbios = yes
smb ports = 445
load printers = no
private dir = $PWD
lock directory = $PWD
state directory = $PWD
cache directory = $PWD
pid directory = $PWD
ncalrpc dir = $PWD/ncalrpc
[labram]
path = /mnt/share
read only = no
C
printf '%s\n%s\n' "$1" "$1" | smbpasswd -c smb.conf -a -s lab
setsid smbd --foreground --no-process-group --debug-stdout -s smb.conf > smb.log 2>&1 < /dev/null &
cat > afp.conf <<C
[Global]
zeroconf = no
uam list = uams_dhx2_passwd.so
vol dbpath = $PWD/cnid
[labram]
path = /mnt/share
C
mkdir cnid
setsid netatalk -d -F "$PWD/afp.conf" > afp.log 2>&1 < /dev/null &
cat > ganesha.conf <<C
NFS_CORE_PARAM { Protocols = 3; MNT_Port = 20048; Enable_NLM = false; Enable_RQUOTA = false;
    allow_set_io_flusher_fail = true; }
NFSv4 { Graceless = true; RecoveryBackend = fs; RecoveryRoot = "$PWD"; }
EXPORT { Export_Id = 7; Path = "/mnt/share"; Pseudo = "/mnt/share"; Filesystem_id = 7.7; Access_Type = RW;
    Squash = No_Root_Squash; SecType = sys; Attr_Expiration_Time = 0; FSAL { Name = VFS; } }
EXPORT { Export_Id = 8; Path = "/mnt/root_only"; Pseudo = "/mnt/root_only"; Filesystem_id = 7.8; Access_Type = RW;
    SecType = sys; PrivilegedPort = true; FSAL { Name = VFS; } }
C
sed 's/^\([^ ]* [^ ]*\) tmpfs /\1 ext4 /' /proc/self/mounts > mtab && rm /etc/mtab && cp mtab /etc/mtab
setsid rpcbind -f -w > rpcbind.log 2>&1 < /dev/null &
sleep 0.5
setsid ganesha.nfsd -F -L STDERR -f ganesha.conf -p "$PWD/ganesha.pid" > nfs.log 2>&1 < /dev/null &
tries=0
until grep -q ":0801 .* 0A " /proc/net/tcp6 /proc/net/tcp && grep -q ":0224 .* 0A " /proc/net/tcp6 /proc/net/tcp; do
    tries=$((tries + 1)); [ $tries -lt 100 ] || { cat smb.log afp.log nfs.log; exit 1; }; sleep 0.1
done
