"""Fixtures that run a command."""

from unit.cli.conftest import done, lab, refused  # noqa: F401 – fixtures
