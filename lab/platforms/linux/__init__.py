"""Linux, as far as the lab needs to know it."""

from lab.platforms.linux.platform import PLATFORM as PLATFORM
