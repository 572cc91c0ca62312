"""The kinds of fault: what happens, at which commands, in which labs, and what a trial may be then."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.hosts import Result
from lab.local import lifecycle

from . import clock, link, space
from .observe import LEASE, Observer, Process, daemons

if TYPE_CHECKING:
    from .inject import Call, Sent

BEFORE, AFTER, DURING = WHENS = ("before", "after", "during")
AROUND = (BEFORE, AFTER)
CONTROLLER = "controller"  # in place of a host; its sites are files opened for writing
HANG_S = 1.0
DAY_S = 86_400
# Kill the sshd processes of this connection: all above this script except the listener. None is left to
# report how the command ended. An emulated Mac has no /proc, but the Linux below it has.
LOSE = """
pid=$$ sessions= proc=/proc
[ -d /proc/self ] || proc=/linux/proc
while [ "$pid" -gt 1 ]; do
    [ "$(cat "$proc/$pid/comm")" = sshd-session ] && sessions="$sessions $pid"
    pid=$(sed 's/^.*) //' "$proc/$pid/stat" | cut -d ' ' -f 2)
done
kill -s KILL $sessions
"""
# A host prints something else than the command "$@", whose effect and exit code stay
ESCAPES = r"printf '\033[2J\033]0;owned\007\302\23331m\177\r\b\342\200\256'"
LIES = {
    "lie-empty": '"$@" >/dev/null 2>&1',
    "lie-cut": 'text=$("$@"); code=$?; printf %s "$text" | head -c $((${#text} / 2)); exit $code',
    "lie-other": '"$@" >/dev/null; code=$?; uname -a; df; ls -l /; exit $code',
    "lie-control": f'{ESCAPES}; "$@"; code=$?; {ESCAPES}; exit $code',
    "lie-utf8": r"""printf '\377\376\300\200'; "$@"; code=$?; printf '\355\240\200\n'; exit $code""",
    "lie-flood": r"""awk 'BEGIN { while (i++ < 2000000) print "1 xxxxxxxxxxxxxxxxxxxxxxxxx" }'; "$@" """,
    "lie-endless": '"$@"; exec yes',
}


class Scene(NamedTuple):
    """Where a fault strikes: a command on its way to a host, and how long it usually takes."""

    call: Call
    when: str
    lab: str
    usual_s: float

    @property
    def within_s(self) -> float:
        """The deadline of a command that does not end by itself."""
        return HANG_S + (0.0 if self.when == BEFORE else self.usual_s)


@dataclass(frozen=True)
class Kind:
    """One kind of fault. ``strike`` runs the command of a scene with the fault.

    ``runs``: what must run there, a key of RUNNING. ``spoils``: times at which a struck transfer or check cannot be ok.
    ``not_in``: labs without this kind. ``strikes_files``: also where the controller opens a file. ``says``: a
    pattern of what the user must be told about an incomplete run after a file or a transfer was struck. After the run,
    ``lift`` undoes the fault, and hosts in ``fills`` get their sizes back.
    """

    strike: Callable[[Scene], Any]
    whens: tuple[str, ...] = AROUND
    runs: str = ""
    spoils: tuple[str, ...] = ()
    says: str = ""
    not_in: tuple[str, ...] = ()
    strikes_files: bool = False
    fills: tuple[str, ...] = ()
    lift: Callable[[str], None] = lambda _: None

    def can_strike(self, sent: Sent, when: str) -> bool:
        if sent.role == CONTROLLER:
            return self.strikes_files and when == BEFORE
        if when == DURING and not sent.moves_trial:
            return False
        running = sent.ran_after if when == AFTER else sent.ran_before
        return when in self.whens and (not self.runs or self.runs in running)


def beside(deed: Callable[[str], None]) -> Callable[[Scene], Any]:
    """A fault that happens beside the command.

    For a dialogue, "after" means after its begin, because only its end tells more.
    """

    def strike(scene: Scene) -> Any:
        if scene.when == DURING:
            with link.under_way(scene.lab, lambda: deed(scene.lab)):
                return scene.call.go()
        if scene.when == BEFORE:
            deed(scene.lab)
            return scene.call.go()
        result = scene.call.go()
        deed(scene.lab)
        return result

    return strike


def _refuse(scene: Scene) -> Any:
    call = scene.call
    if call.is_spoken_with:
        return call.go_and("exit 1", scene.when, call.deadline_s)
    if scene.when == AFTER:
        call.go()
    return Result(call.argv, 1, "", "an injected error", 0.0)


def _lie(script: str) -> Callable[[Scene], Any]:
    is_endless = "exec yes" in script
    return lambda at: at.call.go_and(script, BEFORE, at.within_s if is_endless else at.call.deadline_s)


def _signal(number: signal.Signals) -> Kind:
    return Kind(beside(lambda _: os.kill(os.getpid(), number)), WHENS, spoils=WHENS)


def _reboot(host: str, *not_in: str) -> Kind:
    return Kind(beside(lambda lab: lifecycle.reboot(lab, host)), not_in=not_in)


def _fill(host: str) -> Kind:
    return Kind(beside(lambda lab: space.fill_host(lab, host)), not_in=("mac", "guests"), fills=(host,))


SERVERS = ("smbd", "ganesha", "netatalk", "afpd", "cnid", "sshd")
# What can be struck: the host, and which of its daemons
RUNNING: Mapping[str, tuple[str, Callable[[Process], bool]]] = {
    "daemons": ("server", lambda _: True),
    "servers": ("server", lambda process: process.name.startswith(SERVERS)),
    "guard": ("server", lambda process: LEASE in process.command),
    "mounts": ("client", lambda process: process.name.startswith("gvfsd")),
}


def what_runs(lab: str) -> tuple[str, ...]:
    running = {host: daemons(Observer(lab).init(host)) for host in ("client", "server")}
    return tuple(name for name, (host, is_one) in RUNNING.items() if any(map(is_one, running[host])))


def _to_all(runs: str, number: signal.Signals, spoils: tuple[str, ...] = (), says: str = "") -> Kind:
    def deed(lab: str) -> None:
        host, is_one = RUNNING[runs]
        for process in filter(is_one, daemons(Observer(lab).init(host))):
            os.kill(process.pid, number)

    not_in = ("guests",) if runs == "daemons" else ("guests", "mac")
    return Kind(beside(deed), WHENS, runs=runs, spoils=spoils, says=says, not_in=not_in)


SILENT, MAKE_ROOM = "no longer answers|not responding|did not end within", "No space left.*\n?.*make room"


def _link(deed: Callable[[str], None], spoils: tuple[str, ...] = (), says: str = "") -> Kind:
    return Kind(beside(deed), (DURING,), spoils=spoils, says=says, not_in=("mac", "guests"))


def _clock(host: str, seconds: int) -> Kind:
    lift = (lambda _: None) if host == CONTROLLER else (lambda lab: clock.lift(lab, host))
    not_in = ("mac", "guests", "no clock")
    return Kind(beside(lambda lab: clock.set_ahead(lab, host, seconds)), (BEFORE, DURING), not_in=not_in, lift=lift)


KINDS: Mapping[str, Kind] = {
    "error": Kind(_refuse, spoils=AROUND),
    "hang": Kind(lambda scene: scene.call.go_and("sleep 3600", scene.when, scene.within_s), spoils=AROUND),
    "lost": Kind(lambda scene: scene.call.go_and(LOSE, scene.when, scene.call.deadline_s), spoils=AROUND),
    "SIGINT": _signal(signal.SIGINT),
    "SIGTERM": _signal(signal.SIGTERM),
    "SIGKILL": _signal(signal.SIGKILL),
    "reboot-client": _reboot("client"),
    "reboot-server": _reboot("server"),
    "reboot-client.3": _reboot("client.3", "one client"),
    "full-controller": Kind(beside(lambda _: space.fill_controller()), says=MAKE_ROOM, strikes_files=True),
    "full-client": _fill("client"),
    "full-server": _fill("server"),
    "server-killed": _to_all("daemons", signal.SIGKILL, (DURING,), "process [a-z]+ ended during the transfer"),
    "server-stopped": _to_all("servers", signal.SIGSTOP, (DURING,), f"{SILENT}|Input/output error"),
    "guard-killed": _to_all("guard", signal.SIGKILL),
    "guard-stopped": _to_all("guard", signal.SIGSTOP),
    "mount-killed": _to_all("mounts", signal.SIGKILL),  # a new mount may repeat the transfer
    "mount-stopped": _to_all("mounts", signal.SIGSTOP, (DURING,)),
    **{f"link-down-{seconds}": _link(link.down(seconds), (DURING,), f"outage|{SILENT}") for seconds in (2, 20, 90)},
    **{f"link-silent-{seconds}": _link(link.silent(seconds), (), SILENT) for seconds in (2, 20, 90)},
    **{f"clock-{way}-{host}": _clock(host, seconds) for host in (CONTROLLER, "client", "server")
       for way, seconds in (("ahead", DAY_S), ("back", -DAY_S))},
    **{name: Kind(_lie(script), (AFTER,), not_in=("guests",)) for name, script in LIES.items()},
}  # fmt: skip
"""All of them, in the order of the printed matrix."""
