"""What a share and its mount turned out to be, compared with what was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from lab.base.errors import SettingRefused
from lab.protocols.driver import Driver
from lab.protocols.share import Share, Side


def durability_in_effect(driver: Driver, server: Side, share: Share) -> Mapping[str, str]:
    """What :meth:`Driver.durability` reads. Raises SettingRefused where it is not what the share was to have."""
    effective = driver.durability(server, share)
    if share.server_sync not in ("default", effective.get("server_sync")):
        message = (
            f"server_sync was set to {share.server_sync} and reads back as {effective.get('server_sync')} "
            f"({effective.get('server_sync_by')})"
        )
        raise SettingRefused(message, host=server.host.name)
    return effective


def options_in_effect(name: str, share: Share, levels: Mapping[str, str]) -> dict[str, str]:
    """The ``levels`` read back of a mount of the protocol ``name``, by the names of its options in a sweep.

    Raises SettingRefused where one is not as it was asked for.
    """
    for option, level in share.options.items():
        if level != (effective := levels.get(option)):
            message = f"{name}.{option} was set to {level} and reads back as {effective or 'unknown'}"
            remedy = f"client or server does not take it: leave {level} out of the sweep"
            raise SettingRefused(message, remedy, host="client")
    return {f"{name}.{option}": level for option, level in levels.items()}
