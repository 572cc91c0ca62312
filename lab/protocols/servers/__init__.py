"""Servers for several protocols: in Linux kernels, on macOS, and servers whose flushes do nothing."""
