"""How much a trial moves if a sweep gives seconds: chosen before the first trial, by the speed of the link."""

from collections.abc import Callable, Iterator, Sequence

from lab.base.errors import BadInput, LabFailure, RestoreError
from lab.base.units import LARGEST, size_label
from lab.design.blocks import Slot
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.payload_size import GIGABIT_BYTES_PER_S, MIB, ROOM, most_in, size_for
from lab.design.plan import Plan
from lab.design.sweep_file import Sweep
from lab.hosts import ROLES, Role
from lab.platforms.files import NOT_TOLD
from lab.results.run_folder import RunFolder
from lab.run.begin.look import plan_of
from lab.run.case import made_store
from lab.run.case.pair import at_home
from lab.run.case.session import Session
from lab.run.ceilings import link_ceiling
from lab.run.transfer.part import NoSpace
from lab.run.transfer.recorded import Recorded, now
from lab.run.transfer.transfer import transfer

PILOT_BYTES = 16 * MIB  # a fifth of a second of a gigabit link: long enough to be past the start of a connection
PILOT_DEADLINE_S = 120.0
ETHERNET_SHARE = 0.94  # of the bits of a link: the rest are headers and gaps, with an MTU of 1500


def recorded_size(sweep: Sweep, folder: RunFolder) -> Sweep:
    """The sweep of a run with the size that the run chose, if it did. Raises BadInput."""
    size = folder.run.get("payload_bytes")
    if sweep.workload.size is not None or size is None:
        return sweep
    if not 0 < size < LARGEST:
        raise BadInput(f"{folder.path / 'run.json'}: payload_bytes: {size} is no size of a payload")
    return sweep.sized(size)


def choose_size(
    session: Session, folder: RunFolder, sweep: Sweep, planned: Plan, tell: Callable[[str], None]
) -> tuple[Sweep, Plan]:
    """The sweep with a size, and its plan. A size that is chosen here is kept in run.json.

    It is what the link moves in the seconds of the sweep; or, with a warning, as much as there is room for.
    """
    seconds = sweep.workload.seconds
    if sweep.workload.size is not None or seconds is None:
        return sweep, planned
    pilots = plan_of(folder, sweep.sized(PILOT_BYTES)).cases
    in_share = _free_in_share(session, pilots)
    most, place = min(_rooms(session, sweep, in_share))  # first: measuring the rate may kill a mount
    rate, source = _link_rate(session, folder, sweep, planned, pilots, in_share)
    ideal_size = size_for(seconds, rate)
    size = max(MIB, min(ideal_size, most))
    while size > MIB and session.payload.room(size) > most:  # small files take more room than their bytes
        size //= 2
    folder.update(payload_bytes=size)
    tell(f"a trial moves {size_label(size)}, which takes {size / rate:.1f} s or more: {source}")
    if size < seconds * rate:
        tell(
            f"warning: that is less than the {seconds:g} s of the sweep, and too short for some verdicts: {place} has "
            f"room for no more; {ROOM * ideal_size / MIB:.0f} MiB would do"
        )
    sweep = sweep.sized(size)
    return sweep, plan_of(folder, sweep)


def _link_rate(
    session: Session, folder: RunFolder, sweep: Sweep, planned: Plan, pilots: Sequence[Case], in_share: int | None
) -> tuple[float, str]:
    """Bytes per second of the link in its better direction, and the source of that number."""
    if not session.pair.config.measures_link:
        return _pilot_rate(session, pilots, in_share)
    slot = max((slot for slot in planned.slots if slot.block == 1), key=_expected_speed)
    recorded, ids = Recorded(folder), link_ceiling.ids(slot)
    rows = link_ceiling.rows(slot, recorded.missing(ids), now())
    try:
        if rows:
            link_ceiling.measure(session, slot, rows, sweep.ceiling_seconds, recorded)
    except RestoreError:
        raise
    except LabFailure:  # the first trial on this network will fail likewise, with the reason
        session.recover()
    if rate := max(link_ceiling.rate(recorded.get(name)) or 0.0 for name in ids.values()):
        return rate, f"iperf3 moved {rate / 1e6:.4g} MB/s"
    speeds = [speed for role in ROLES if (speed := session.pair.facts[role].link_bits_per_s)]
    if len(speeds) == len(ROLES):
        slower = min(speeds)
        return ETHERNET_SHARE * slower / 8, f"iperf3 could not tell; the interfaces say {slower / 1e9:g} Gbit/s"
    return GIGABIT_BYTES_PER_S, "neither iperf3 nor the interfaces could tell how fast the link is; 1 Gbit/s is assumed"


def _pilot_rate(session: Session, pilots: Sequence[Case], in_share: int | None) -> tuple[float, str]:
    """Bytes per second of the faster one of two small transfers, one each way; a slow share takes no minutes.

    Raises LabFailure if one fails, as every trial would. ``in_share`` bytes were free in the share, if that is known.
    """
    rates = []
    for direction in Direction:
        case = next((case for case in pilots if case.direction is direction), None)
        if case:
            try:
                timing = transfer(session, case, f"pilot-{direction}", PILOT_DEADLINE_S).timing
            except NoSpace as error:
                if in_share is None:
                    raise
                raise _full_share(session.pair.config.share.label, in_share) from error
            rates.append(PILOT_BYTES / timing.elapsed_s)
    return max(rates), f"a first transfer of {size_label(PILOT_BYTES)} reached {max(rates) / 1e6:.4g} MB/s"


def _full_share(name: str, free_bytes: int) -> LabFailure:
    """The error for a share that has no room for a pilot; before it, ``free_bytes`` were free."""
    needed, free = f"a test needs {PILOT_BYTES / 1e6:.0f} MB", f"{free_bytes / 1e6:.0f} MB"
    if free_bytes < PILOT_BYTES:
        return LabFailure(f"the share {name} is full: {needed} and {free} are free", "make room there, and try again")
    message = f"the share {name} takes no more, although it says that {free} are free: {needed}"
    if free_bytes == NOT_TOLD:
        message = f"the share {name} takes no more: {needed}, and it does not say how much is free"
    return LabFailure(message, "a quota may be reached: make room there, or let the server's owner raise it")


def _expected_speed(slot: Slot) -> tuple[bool, int, int]:
    """Sorts networks by their likely speed: buffers that grow by themselves, or large ones, and large packets win."""
    space = slot.case.tcp_space
    return not isinstance(space, int), space if isinstance(space, int) else 0, slot.case.mtu


def _free_in_share(session: Session, pilots: Sequence[Case]) -> int | None:
    """The bytes that are free in a share to which only the client's mount leads; None for any other."""
    if not session.pair.config.through_mount:
        return None
    return session.pair.platforms[Role.CLIENT].files.free_bytes(session.set_up(pilots[0]).attached.path)


def _rooms(session: Session, sweep: Sweep, in_share: int | None) -> Iterator[tuple[int, str]]:
    """The largest payload that fits into each place that is to hold it, and the name of the place."""
    pair, stores = session.pair, sweep.factors.of("store")
    for role in ROLES:
        if role is Role.CLIENT or "ram" in stores:
            key = " (ram_disk in the hosts file)" if pair.config.is_of_user else ""
            yield most_in(getattr(pair.config, role).ram_disk), f"the {role}'s RAM disk{key}"
    for store, levels in made_store.made_of(sweep):
        room_bytes = store.room(levels).most_in(pair.config.share.image_size)
        yield most_in(room_bytes), f"{store.lies_in} of {store.name} (image_size in the hosts file)"
    if in_share is not None:
        yield most_in(in_share), "the share"
    elif "disk" in stores:
        path = at_home(pair.config.share.path or "", pair.facts[Role.SERVER].home)
        yield most_in(pair.platforms[Role.SERVER].files.free_bytes(path)), f"the server's disk, at {path},"
