# Print the public keys $1_KIND.pub, the best kind first; make missing ones. They live as long as the run. OpenSSH before
# 6.5, and so Macs before 10.11, have no Ed25519.
for type in ed25519 rsa; do
    [ -e "$1_$type" ] || ssh-keygen -q -t $type -N "" -f "$1_$type" 2>/dev/null
    [ ! -e "$1_$type" ] || cat "$1_$type.pub"
done
