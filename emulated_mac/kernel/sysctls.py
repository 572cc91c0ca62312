"""The variables of sysctl(3): which ones a version has, their limits, and their effect on this host's sockets."""

import errno
import os
import time
import uuid
from pathlib import Path

from ..profiles import Profile
from .system_calls import Caller, Kernel, at_boot, system_call

PROC = Path("/linux/proc")
MIB = 1024 * 1024
# The variables that root may write; ``_accepts`` has their limits
WRITABLE = (
    *(f"net.inet.tcp.{name}" for name in (
        "sendspace", "recvspace", "doautorcvbuf", "doautosndbuf", "autorcvbufmax", "autosndbufmax", "autosndbufinc",
        "sockthreshold", "delayed_ack", "win_scale_factor", "rfc1323", "mssdflt", "tso",
    )),
    "net.inet.raw.maxdgram", "net.inet.raw.recvspace", "kern.ipc.maxsockbuf", "net.smb.fs.tcpsndbuf",
    "net.smb.fs.tcprcvbuf", "vfs.generic.nfs.client.tcp_sockbuf", "vfs.generic.nfs.client.allow_async",
    "debug.lowpri_throttle_enabled",
)  # fmt: skip


class Variables(dict[str, str]):
    """The variables by name, as text, except those that are read anew each time."""


@at_boot
def set_defaults(kernel: Kernel) -> None:
    """Give every variable its value after a boot; a reboot forgets what was written."""
    kernel.part(Variables).update(network_variables(kernel.profile) | _machine_variables(kernel.profile))
    _apply(kernel)


def values(kernel: Kernel) -> dict[str, str]:
    """All variables by name, as text."""
    load = " ".join(f"{average:.2f}" for average in os.getloadavg())
    return kernel.part(Variables) | {"vm.loadavg": f"{{ {load} }}", "vm.swapusage": _swap()}


def network_variables(profile: Profile) -> dict[str, str]:
    """The variables of sockets (xnu: tcp_usrreq.c, unix_startup.c, uipc_socket2.c, raw_ip.c; SMBClient, NFS)."""
    number = profile.number
    clusters = 32768 if number < (10, 13) else 131072
    space = 65536 if number < (10, 8) else 131072
    variables = {
        "net.inet.tcp.sendspace": space, "net.inet.tcp.recvspace": space, "net.inet.tcp.delayed_ack": 3,
        "net.inet.tcp.win_scale_factor": 3, "net.inet.tcp.mssdflt": 512, "net.inet.tcp.tso": 1,
        "net.inet.raw.maxdgram": 8192, "net.inet.raw.recvspace": 8192, "kern.ipc.nmbclusters": clusters,
        "kern.ipc.maxsockbuf": min(8 * MIB, clusters * 2048 // 16), "debug.lowpri_throttle_enabled": 1,
    }  # fmt: skip
    if number < (10, 8):
        variables["net.inet.tcp.sockthreshold"] = 64
    else:
        buffer = (
            512 * 1024 if number < (10, 10) else MIB if number < (10, 14) else 2 * MIB if number < (11,) else 4 * MIB
        )
        variables |= {
            "net.inet.tcp.doautorcvbuf": 1, "net.inet.tcp.autosndbufinc": 8192,
            "net.inet.tcp.autorcvbufmax": buffer, "net.inet.tcp.autosndbufmax": buffer,
        }  # fmt: skip
        if number < (11,):
            variables["net.inet.tcp.doautosndbuf"] = 1
    smb = 131072 if number < (11,) else 2 * MIB if number >= (15,) else 8 * MIB
    variables |= {"net.smb.fs.tcpsndbuf": smb, "net.smb.fs.tcprcvbuf": smb}
    if number >= (11,):
        variables["vfs.generic.nfs.client.tcp_sockbuf"] = 131072 if number < (14, 4) else 6 * MIB
        variables["vfs.generic.nfs.client.allow_async"] = 0
    return {name: str(value) for name, value in variables.items()}


def _machine_variables(profile: Profile) -> dict[str, str]:
    """The variables of the machine: memory and cores of the host below, and names that no Mac has."""
    boot = time.time()  # this process starts as the host does
    cores, page = os.cpu_count() or 1, os.sysconf("SC_PAGE_SIZE")
    arm = profile.is_arm
    seconds = f"sec = {int(boot)}, usec = {int(boot % 1 * 1e6)}"
    variables = {
        "kern.ostype": "Darwin", "kern.osrelease": profile.darwin, "kern.osversion": profile.build,
        "kern.version": f"Darwin Kernel Version {profile.darwin}: EMULATED on Linux; "
        f"root:{profile.xnu.rpartition(' ')[0]}",
        "kern.hostname": os.uname().nodename, "kern.boottime": f"{{ {seconds} }} {time.ctime(boot)}",
        "hw.memsize": str(page * os.sysconf("SC_PHYS_PAGES")), "hw.pagesize": str(16384 if arm else 4096),
        **dict.fromkeys(("hw.ncpu", "hw.physicalcpu", "hw.logicalcpu", "hw.activecpu"), str(cores)),
        "hw.machine": "arm64" if arm else "i386" if profile.number < (10, 7) else "x86_64",
        "hw.model": "EmulatedMac1,1", "hw.byteorder": "1234",
        "machdep.cpu.brand_string": f"EMULATED on {_processor()}", "machdep.cpu.core_count": str(cores),
    }  # fmt: skip
    if profile.number >= (10, 13, 4):
        variables["kern.osproductversion"] = profile.version
    if profile.number >= (10, 9):
        variables["kern.bootsessionuuid"] = str(uuid.uuid4()).upper()
    if arm:
        variables |= {"hw.optional.arm64": "1", "hw.nperflevels": "1", "hw.perflevel0.physicalcpu": str(cores)}
        variables["hw.perflevel0.logicalcpu"] = str(cores)
    else:
        variables["hw.cpufrequency"] = "2400000000"
    return variables


def _processor() -> str:
    lines = (PROC / "cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "an unknown processor")


def _swap() -> str:
    """As sysctl(8) prints it: ``total = 0.00M  used = 0.00M  free = 0.00M  (encrypted)``."""
    lines = [line.split() for line in (PROC / "meminfo").read_text().splitlines()]
    kib = {line[0].rstrip(":"): int(line[1]) for line in lines}
    total, free = kib["SwapTotal"] / 1024, kib["SwapFree"] / 1024
    return f"total = {total:.2f}M  used = {total - free:.2f}M  free = {free:.2f}M  (encrypted)"


@system_call
def sysctl_names(kernel: Kernel, caller: Caller) -> list[str]:
    """The names of all variables, in the order in which sysctl -a prints them."""
    first = ("kern", "vm", "vfs", "net", "debug", "hw", "machdep")
    return sorted(values(kernel), key=lambda name: (first.index(name.split(".")[0]), name))


@system_call
def sysctl_read(kernel: Kernel, caller: Caller, name: str) -> str:
    """The value of one variable. ENOENT if this version lacks it."""
    if name not in values(kernel):
        raise OSError(errno.ENOENT, "No such file or directory")
    return values(kernel)[name]


@system_call
def sysctl_writable(kernel: Kernel, caller: Caller, name: str) -> bool:
    """Whether root may write it."""
    return name in WRITABLE


@system_call
def sysctl_write(kernel: Kernel, caller: Caller, name: str, value: int) -> None:
    """Write a variable. EPERM unless the caller is root, ERANGE ("Result too large") if the value is not allowed."""
    caller.must_be_root()
    if kernel.fault("sysctl-refused") or not _accepts(kernel, name, value):
        raise OSError(errno.ERANGE, "Result too large")
    kernel.part(Variables)[name] = str(value)
    _apply(kernel)


def _accepts(kernel: Kernel, name: str, value: int) -> bool:
    """Whether the kernel accepts a value (xnu: sysctl_tcp_sospace and sysctl_sb_max; the others have no limits)."""
    largest = int(kernel.part(Variables)["kern.ipc.maxsockbuf"])
    if name in ("net.inet.tcp.sendspace", "net.inet.tcp.recvspace"):
        return 1 <= value <= (largest if kernel.profile.number >= (14,) else largest // 2304 * 2048)
    if name == "kern.ipc.maxsockbuf":
        ceiling = min(8 * MIB, int(kernel.part(Variables)["kern.ipc.nmbclusters"]) * 2048 // 16)
        return 18432 < value <= ceiling
    return True


def _apply(kernel: Kernel) -> None:
    """Give this host's new sockets the buffers that a Mac's would get."""
    tcp = _tcp_variables(kernel)
    for space, switch, maximum, floor, file in (
        ("recvspace", "doautorcvbuf", "autorcvbufmax", 262140, "tcp_rmem"),
        ("sendspace", "doautosndbuf", "autosndbufmax", 131070, "tcp_wmem"),
    ):
        size = largest = tcp[space]
        if tcp.get("sockthreshold", 0) > 0:  # 10.6 and 10.7 raise the buffer while few sockets exist (tcp_attach)
            size = largest = max(size, floor)
        if maximum in tcp and tcp.get(switch, 1):
            largest = tcp[maximum]
        (PROC / "sys/net/ipv4" / file).write_text(f"4096 {min(size, largest)} {largest}")


def _tcp_variables(kernel: Kernel) -> dict[str, int]:
    """The variables of TCP by the last part of their names."""
    prefix = "net.inet.tcp."
    variables = kernel.part(Variables).items()
    return {name.removeprefix(prefix): int(value) for name, value in variables if name.startswith(prefix)}
