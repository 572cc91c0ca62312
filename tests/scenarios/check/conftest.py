"""The Macs that `lab check` looks at."""

from support.checked_macs import macs  # noqa: F401 – a fixture
