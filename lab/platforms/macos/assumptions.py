"""What is assumed of a Mac's network, clocks, disks and counters."""

from __future__ import annotations

from lab.base.scripts import PYTHON, Script
from lab.hosts.assumption import Assumption

AT_ONCE = "iostat -w 1 | " + Script(
    r"""perl -e '$SIG{ALRM} = sub { die "it waits\n" }; alarm 8; <STDIN> for 1 .. 5; print "at once\n"'""",
    f"""'{PYTHON}' -IBS -c 'import signal; signal.alarm(8); [input() for row in range(5)]; print("at once")'""",
)
EXACT = """
netstat -I "$1" -b -n | awk '/<Link#/ {
    print $(NF - 4), $(NF - 1) ":", ($(NF - 4) % 1024 || $(NF - 1) % 1024) ? "exact" : "rounded"
}'
"""
CLOCK = Script(
    "perl -MTime::HiRes -e 'print Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC())'",
    f"'{PYTHON}' -IBS -c 'import time; print(time.clock_gettime(time.CLOCK_MONOTONIC))'",
)
SYSTEM = (
    Assumption(
        "names and values of the TCP settings",
        "sysctl net.inet.tcp.sendspace net.inet.tcp.recvspace kern.ipc.maxsockbuf",
        r"sendspace: \d+\n.*recvspace: \d+\n.*maxsockbuf: \d+",
        "xnu tcp_usrreq.c, uipc_socket2.c",
    ),
    Assumption(
        "ping is held to 8192 bytes until the lab raises it",
        "sysctl net.inet.raw.maxdgram net.inet.raw.recvspace",
        r"maxdgram: 8192\n.*recvspace: 8192",
        "xnu raw_ip.c",
    ),
    Assumption(
        "a row of iostat ends with three shares of the processor and three load averages",
        "iostat -c 2 -w 1",
        r"us sy id.*1m +5m +15m\n(.*\d+ +\d+ +\d+ +\d+\.\d+ \d+\.\d+ \d+\.\d+\s*){2}",
        "system_cmds iostat.c",
    ),
    Assumption(
        "iostat does not wait for a full buffer before it writes into a pipe",
        AT_ONCE,
        "at once",
        "system_cmds iostat.c",
    ),
    Assumption(
        "what the sampler starts several times a second takes hundredths of a second of processor time",
        'time -p sh -c \'netstat -I "$1" -b -n >/dev/null; ps -A -o pid= -o time= -o ucomm= >/dev/null\' sh "$1"',
        r"user +0\.0\d\nsys +0\.0\d",
        "experience: unverified",
    ),
    Assumption(
        "ps tells the CPU time of each process in hundredths of a second, those of other accounts included",
        "ps -p 1 -o pid= -o time= -o ucomm=",
        r" *1 +[1-9]?\d*:\d\d\.\d\d launchd",
        "adv_cmds ps.c, tasks.c, print.c",
    ),
    Assumption(
        "netstat counts the whole interface in a row <Link#N>, and its columns are the same from the right",
        'netstat -I "$1" -b -n',
        r"Ipkts Ierrs +Ibytes +Opkts Oerrs +Obytes +Coll.*\n.*<Link#\d+>",
        "network_cmds if.c",
    ),
    Assumption(
        "netstat counts bytes exactly, and not in steps of 1 KiB",
        EXACT,
        "exact",
        "reports that recent versions round: unverified",
    ),
    Assumption(
        "root is told how many TCP segments were sent again",
        "netstat -s -p tcp",
        r"[1-9]\d* packets? sent\n(.*\n)*?\s+\d+ data packets? \(\d+ bytes?\) retransmitted",
        "xnu tcp_subr.c, network_cmds inet.c",
        root=True,
    ),
    Assumption(
        "vm_stat counts what is swapped out",
        "vm_stat",
        r"page size of \d+ bytes(.*\n)*(Swapouts|Pageouts): +\d+\.",
        "system_cmds vm_stat.c",
    ),
    Assumption(
        "the driver tells the range of its MTU",
        'networksetup -listvalidMTUrange "$1"; ifconfig -v "$1" | grep mtu',
        r"Valid MTU Range: \d+-\d+|max mtu: \d+",
        "man networksetup, network_cmds ifconfig.c",
    ),
    Assumption(
        "an interface says whether its link is up", 'ifconfig "$1"', "status: active", "network_cmds ifconfig.c"
    ),
    Assumption(
        "caffeinate counts as what keeps it awake",
        "caffeinate -i -t 3 & sleep 1; pmset -g assertions",
        r"PreventUserIdleSystemSleep +1(.*\n)*.*caffeinate",
        "man caffeinate",
        since=(10, 8),
    ),
    Assumption(
        "pmset keeps it awake until it is ended",
        "pmset noidle >/dev/null & sleep 1; kill $! && echo 'it ran'",
        "it ran",
        "man pmset of 10.6",
        before=(10, 8),
    ),
    Assumption(
        "perl, or the python3 in its place, has a monotonic clock",
        CLOCK,
        r"^\d+\.\d+$",
        "sources of Time::HiRes and CPython",
        since=(10, 12),
    ),
    Assumption(
        "hdiutil lists images in a property list with the keys framework and images",
        "hdiutil info -plist",
        r"<key>framework</key>(.*\n)*.*<key>images</key>",
        "captured on 10.13 and 15",
    ),
    Assumption(
        "the programs are there that make a RAM disk and empty the caches",
        "for name in newfs_hfs diskutil hdiutil mdutil purge; do command -v $name; done | grep -c .",
        "^5$",
        "man newfs_hfs, diskutil, hdiutil, mdutil, purge",
        since=(10, 9),  # purge came with Xcode before
    ),
    Assumption(
        "anybody may ask whether Spotlight indexes a volume",
        "mdutil -s /",
        r"Indexing (enabled|disabled)",
        "public samples",
    ),
    Assumption(
        "rsync takes the flags that the lab gives it, of either engine",
        'env CHOSEN_RSYNC=rsync_openrsync rsync -n -W --inplace -e ssh -- /etc/hosts /tmp/; echo "exit code $?"',
        "exit code 0",
        "man rsync, man openrsync",
    ),
    Assumption(
        "ping waits for milliseconds and exits 2 without a reply",
        'ping -n -c 1 -W 200 192.0.2.255; echo "exit code $?"',  # an address for documentation (RFC 5737): nobody's
        "exit code 2",
        "network_cmds ping.c",
    ),
    Assumption(
        "commands over SSH may use the local network",
        'ping -n -c 1 -W 2000 "$2"; echo "exit code $?"',
        "exit code 0",
        "Apple TN3179",
    ),
    Assumption(
        "the link is back within 20 s after its MTU has changed",
        "",
        "run `lab check --jumbo` and see whether it has to try again",
        "unverified, and different for every driver",
    ),
    Assumption(
        "a RAM disk stays in memory",
        "",
        "run a sweep with ram_disk near what is free, and see whether trials have a remark about swap",
        "widely reported: unverified",
    ),
    Assumption(
        "hdiutil lists the disks that APFS makes up together with their image",
        "",
        "run a sweep with ram_disk_format = apfs: `lab restore` finds nothing left to put back",
        "captured on 15; on others unverified",
    ),
    Assumption(
        "an APFS RAM disk has its space back at once where files are removed",
        "",
        "run a sweep of several blocks with ram_disk_format = apfs: no trial fails for want of space",
        "unverified",
    ),
    Assumption(
        "a RAM disk that root mounts keeps the owners of files",
        "",
        "look at `mount` on that Mac during a run: its RAM disk is not noowners",
        "mount(8); what the system mounts by itself often is: unverified",
    ),
    Assumption(
        "nobody is asked on the screen whether the RAM disk is for backups",
        "",
        "look at the screen of that Mac while a run begins",
        "mount(8) does not go through the part of the system that asks: unverified",
    ),
    Assumption(
        "root is told which account attached a RAM image (sudo = helper)",
        "",
        "with sudo = helper, run a sweep: the RAM disk is mounted",
        "hdiutil info as a user has owner-uid; as root unverified",
    ),
    Assumption(
        "the access control list of a folder goes with chmod -N, and ls -lde shows it (sudo = helper)",
        "",
        "with sudo = helper, run a sweep: the RAM disk is mounted",
        "man chmod, man ls",
    ),
    Assumption(
        "sudo reads /etc/sudoers.d (sudo = helper)",
        "",
        "`lab host install` asks the helper for its version",
        "sudoers of Apple's sources",
        since=(10, 11),
    ),
    Assumption(
        "NFS, and SMB to a Mac, take F_FULLFSYNC",
        "",
        "see whether `flushed` of trials is F_FULLFSYNC",
        "SMBClient and NFS sources; AFP is closed: unverified",
    ),
)
