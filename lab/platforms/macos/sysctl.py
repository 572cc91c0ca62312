"""A name of sysctl as a setting."""

from __future__ import annotations

from lab.hosts.command import Command, command, script
from lab.settings.setting import Setting


def sysctl_setting(role: str, name: str, value: str, remedy: str) -> Setting:
    """The value of this name on the host of this role; ``remedy`` says what to do where it is refused."""

    def change(to: str) -> tuple[Command, ...]:
        return (command("sysctl", "-w", f"{name}={to}", root=True),)  # without -w, 10.6 to 10.9 refuse

    return Setting(
        host=role,
        name=name,
        read=script('sysctl -n "$1" | grep "^[0-9]"', name),  # an unknown name may exit 0
        wanted=value,
        apply=change(value),
        undo=change,
        remedy=remedy,
    )
