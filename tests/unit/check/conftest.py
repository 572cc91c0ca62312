"""The Macs that tests of the check look at."""

from support.checked_macs import macs  # noqa: F401 – a fixture
