"""The bytes that the devices of a file system of the lab's own moved for a transfer, and what they prove."""

import re
from contextlib import suppress
from dataclasses import replace

from lab.base.errors import LabFailure, TransferError
from lab.base.untrusted import first_line
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.results.observed import Observed
from lab.run.case.made_store import MadeStore
from lab.run.case.pair import Pair
from lab.stores import DeviceBytes, parse_device_bytes

# What the scripts of stores print of a fault: named_device_fault.sh, zpool_fault.sh, o3x.py
FAULT = re.compile(r"(the device .+ (is gone|cannot be read))?(; )?(the pool .+ is [A-Z]+)?")


def count_moved(pair: Pair, store: MadeStore | None) -> DeviceBytes | None:
    """The bytes that the devices have moved so far, once all is written out; None if nothing counts them."""
    if store is None or store.count is None:
        return None
    printed = store.count.run(pair.hosts[Role.SERVER])
    try:
        return parse_device_bytes(printed)
    except ValueError as error:
        raise LabFailure(f"{store.count.by_hand()} printed what it should not: {error}", host=Role.SERVER) from error


def add_moved(
    observed: Observed, store: MadeStore | None, before: DeviceBytes | None, after: DeviceBytes | None
) -> Observed:
    """What was observed, with the room in the store and the bytes that its devices moved between two counts."""
    if store is None:
        return observed
    observed = replace(observed, store_capacity_bytes=store.capacity_bytes)
    if before is None or after is None:
        return observed
    return replace(
        observed, store_read_bytes=after.read - before.read, store_written_bytes=after.written - before.written
    )


def not_from_devices(case: Case, observed: Observed) -> str:
    """Why a cold read did not come from the store's devices; empty if it did, or is no cold read."""
    read_bytes = observed.store_read_bytes
    is_cold = case.direction is Direction.READ and case.option("server_cache") == "cold"
    if not is_cold or read_bytes is None or read_bytes >= case.size_bytes:
        return ""
    return describe_warm(case.store, read_bytes, case.size_bytes)


def describe_warm(store: str, read_bytes: int, size_bytes: int) -> str:
    """Why a read does not count if the store's devices gave only so many of its bytes."""
    share = f"{read_bytes} of {size_bytes} bytes"
    return f"only {share} were read from the devices of store {store}: its own memory was not cold"


def raise_fault(pair: Pair, store: MadeStore | None, error: LabFailure) -> None:
    """Raise the store's own fault, if it reports one, with the error that followed."""
    if fault := find_fault(pair, store):
        cause = error.message if isinstance(error, TransferError) else error.cause()
        # the fault first: the middle of a long message is cut where people read it
        raise TransferError(f"{fault}; {cause}", error.remedy, host=Role.SERVER) from error


def find_fault(pair: Pair, store: MadeStore | None) -> str:
    """The fault that the store reports; empty if it has none, or cannot be asked.

    Even a transfer that ended well does not count then, because a pool that has lost a disk goes on at another speed.
    """
    if store and store.find_fault:
        with suppress(LabFailure):
            return first_line(store.find_fault.run(pair.hosts[Role.SERVER]))
    return ""
