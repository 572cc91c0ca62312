"""Faults of real Macs that an emulated Mac can be given: `lab local fault HOST NAME [TIMES]`."""

FILE = "/linux/run/emulated_mac.faults"  # JSON: how often each is still to happen; gone after a reboot
# Those that stay on until they are switched off: the others happen as many times as is asked for
HOLDING = (
    "smb-no-hash", "firewall-on", "firewall-block-all", "firewall-stealth", "launchd-override-wins",
    "launchctl-without-load", "wifi", "jobs-on-network",
    "jobs-in-volumes",
)  # fmt: skip
# What happens, by the fault's name
FAULTS = {
    "attach-busy": "hdiutil attach fails: Resource temporarily unavailable",
    "eject-busy": "hdiutil detach and diskutil eject fail: Resource busy; with force they succeed",
    "volume-clash": "a volume is mounted as NAME 1, as where a folder of its name is in /Volumes",
    "localized": "hdiutil info prints its values in Chinese, and load averages have commas",
    "unmount-busy": "umount fails: Resource busy; with -f it succeeds",
    "mtu-refused": "the driver refuses an MTU: ifconfig warns, and exits with 0",
    "link-flap": "a change of MTU takes the link down for three seconds",
    "sysctl-refused": "the kernel refuses a value: Result too large",
    "tcc-tmutil": "tmutil needs Full Disk Access",
    "launchd-override-wins": "launchctl load -F does not start a service that somebody has switched off; holds",
    "launchctl-without-load": "launchctl no longer knows its old words load and unload; holds",
    "jobs-on-network": "privacy lets jobs of an account's launchd reach the local network; holds",
    "jobs-in-volumes": "privacy lets jobs of an account's launchd read network volumes; holds",
    "wifi": "en0 is a Wi-Fi card by what ifconfig, networksetup and system_profiler say; holds",
    "smb-file-exists": "mount_smbfs fails: File exists, with the URL and its password in the message",
    "smb-ntstatus": "mount_smbfs fails: unknown error: -1073741275, an NTSTATUS in decimal",
    "smb-unreachable": "mount_smbfs fails: No route to host, as where Local Network privacy refuses it",
    "smb-no-hash": "the server keeps no SMB-NT hash of the account: SMB refuses its password; holds",
    "firewall-on": "socketfilterfw says that the firewall is on; holds",
    "firewall-block-all": "socketfilterfw says that it blocks all incoming connections; holds",
    "firewall-stealth": "socketfilterfw says that it does not answer ping; holds",
    "nfs-refused": "mount_nfs fails: Operation not permitted, as where a server wants a reserved port",
    "nfs-times-out": "mount_nfs fails: Operation timed out",
    "nfsd-full-disk-access": "nfsd checkexports fails: sandbox_check failed, as without Full Disk Access",
    "tcc-network-volume": "a share mounts, and whoever looks into it is refused: Operation not permitted",
}
