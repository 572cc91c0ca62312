"""macOS 10.6 to 27, as far as the lab needs to know it."""

from lab.platforms.macos.platform import PLATFORM as PLATFORM
