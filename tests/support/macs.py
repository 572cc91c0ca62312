"""Emulated Macs: their servers, what a sweep changes there, and commands of their user."""

import shlex
import subprocess
from typing import Any

import pandas as pd

from lab.results import run_folder
from lab.results.trial import CEILINGS
from support.local_lab import HOSTS, Bench

FLUSHES = "cat /linux/run/emulated_mac_smbfs/flushes-* 2>/dev/null; :"  # none before the first
LAB = "/linux/usr/bin/setpriv --reuid=501 --regid=20 --init-groups /usr/bin/env HOME=/Users/lab PATH=$PATH /bin/sh -c"
SERVE = """
mkdir -p /Users/lab/shared && echo hello > /Users/lab/shared/f && /linux/usr/bin/chown -R lab /Users/lab/shared &&
mkdir -p /Volumes/labram && /linux/usr/bin/mount -t tmpfs -o uid=501,gid=20 ram /Volumes/labram &&
echo hello > /Volumes/labram/f &&
sharing -a /Users/lab/shared -n labram -S labram -A labram -s 101 -g 000 || exit
load() {
    case $(sw_vers -productVersion) in
    10.6*|10.9*) launchctl load -w "/System/Library/LaunchDaemons/$1.plist" ;;
    *) launchctl enable "system/$1" && launchctl bootstrap system "/System/Library/LaunchDaemons/$1.plist" ;;
    esac
}
case $(sw_vers -productVersion) in 10.6*) load smbd ;; *) load com.apple.smbd ;; esac
[ -e /System/Library/LaunchDaemons/com.apple.AppleFileServer.plist ] && load com.apple.AppleFileServer
echo "/Volumes/labram -mapall=501:20 -network 10.99.0.0 -mask 255.255.255.0" > /etc/exports &&
nfsd -F /etc/exports checkexports && nfsd enable
listens() { cat /linux/proc/net/tcp /linux/proc/net/tcp6 | grep -q ":$1 [0-9A-F]*:0000 0A"; }
tries=0
until showmount -e localhost 2>/dev/null | grep -q labram && listens 01BD &&
    { listens 0224 || [ ! -e /System/Library/LaunchDaemons/com.apple.AppleFileServer.plist ]; }; do
    tries=$((tries + 1)); [ $tries -lt 400 ] || exit 1; sleep 0.3
done
"""
# What a sweep changes on a Mac
STATE = r"""
mount; sharing -l; launchctl list | cut -f 3 | grep -i -e smb -e apple -e nfs; nfsd status | sed 's/(pid.*//'
cat /etc/exports /etc/nfs.conf 2>/dev/null
ifconfig en0 | grep mtu; sysctl net.inet.tcp.sendspace net.inet.tcp.recvspace net.inet.raw.maxdgram
hdiutil info -plist; ls -a /private/tmp /private/var /private/var/db /Users/lab
running=$(ps -A -o command=); echo "$running" |
    grep -e '[c]affeinate' -e '[i]ostat' -e '[p]erl' -e '[C]ommandLineTools'; :
"""
LINUX_STATE = """
cut -d ' ' -f 2,3 /proc/self/mounts; ls -a /tmp /var/lib; cat /sys/class/net/eth0/mtu /proc/sys/net/ipv4/tcp_rmem
"""


def run(bench: Bench, host: str, script: str, *args: str, user: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a script on a Mac, as root or as its user."""
    words = ["/bin/sh", "-c", script, "sh", *args]
    if user:
        words = ["/bin/sh", "-c", f"cd /Users/lab; exec {LAB} {shlex.quote(script)} sh {shlex.join(args)}"]
    return bench.execute(host, *words)


def state(bench: Bench, platforms: tuple[str, str]) -> dict[str, list[str]]:
    looks = {
        host: STATE if platform != "linux" else LINUX_STATE for host, platform in zip(HOSTS, platforms, strict=True)
    }
    return {host: bench.inside(host, look).splitlines() for host, look in looks.items()}


def check_pieces(bench: Bench) -> None:
    """Over SMB, a Mac's tools flush each piece, and once more after the tool."""
    flushed_before = bench.inside("client", FLUSHES).count("FLUSH")
    levels: dict[str, Any] = {"dd.bs": ["64 KiB"], "append.bs": ["512 KiB"], "bands.bs": ["1 MiB"]}
    tools = ["dd", "append", "bands", "frames"]
    trials = bench.measure(protocol=["smb"], tool=tools, direction=["write"], mtu=[9000], size="2 MiB", **levels)
    assert {trial["tool"]: trial["verified"] for trial in trials} == dict.fromkeys(tools, True)
    laid_out = 1  # before the bands
    flushes = {"dd": 1, "append": 4 + 1, "bands": laid_out + 2 + 1, "frames": 1}
    assert bench.inside("client", FLUSHES).count("FLUSH") - flushed_before == sum(flushes.values())
    frames = [trial["observed"]["frames"]["frames"] for trial in trials if trial["tool"] == "frames"]
    assert frames == [3]  # of 920 kB


def check_names(bench: Bench) -> None:
    """A Mac works with names alone, over each protocol."""
    phases = ["create", "list", "rename"]  # the others are similar, and each takes two mounts
    factors: dict[str, Any] = {"tool": ["metadata"], "client_sync": ["close"], "metadata.phase": phases}
    mail = {"kind": "tree", "profile": "mail", "size": "1 MiB"}
    trials = bench.measure(protocol=["afp", "nfs", "smb"], workload=mail, **factors)
    assert [trial["verified"] for trial in trials] == [True] * 3 * len(phases)


def swept(bench: Bench, **factors: Any) -> pd.DataFrame:
    done = bench.run(**factors)
    trials = run_folder.load(bench.newest())
    assert done.returncode == 0, done.stdout + trials["reason"].to_string()
    return trials[~trials["protocol"].isin(CEILINGS)]


NEW, OLD = "client", "server"
VERSIONS = {NEW: (15, 5), OLD: (10, 6)}  # of 2024 and of 2009
PLATFORMS = ("--platform", f"{NEW}=macos@15.5", "--platform", f"{OLD}=macos@10.6")


def run_as_user(macs: Bench, host: str, script: str) -> tuple[int, str]:
    """Run a script as the user who logs in: exit code and output."""
    words = ("sudo", "-u", "lab", "/bin/sh", "-c", f"exec 2>&1; cd /private/tmp; {script}")
    done = macs.execute(host, *words)
    return done.returncode, done.stdout


def output_of(macs: Bench, host: str, script: str) -> str:
    code, output = run_as_user(macs, host, script)
    assert code == 0, output
    return output


def await_(test: str) -> str:
    """A command that tries ``test`` until it succeeds, for two minutes."""
    return f"tries=0; until {test}; do tries=$((tries + 1)); [ $tries -lt 600 ] || exit 1; sleep 0.2; done"
