# Prints the names of this Mac and its people as lines "kind name", so that a shared file can leave them out.
tell() { sed "s/^/$1 /"; }
{ hostname; for name in ComputerName LocalHostName HostName; do scutil --get $name; done; } 2>/dev/null | tell host
dscl . -list /Users UniqueID 2>/dev/null | awk '$2 > 499 { print $1 }' | tell user
dscl . -list /Users RealName 2>/dev/null | grep -v '^_' | sed 's/^[^ ]* *//' | tell person
for path in /Users/*; do echo "user ${path##*/}"; done
for path in /Volumes/*; do echo "volume ${path##*/}"; done
ioreg -rd1 -c IOPlatformExpertDevice 2>/dev/null | sed -n 's/.*IOPlatformSerialNumber" = "\(.*\)".*/\1/p' | tell serial
:
