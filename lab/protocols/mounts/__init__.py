"""Mounts for several protocols: by Linux kernels, by macOS, by GVfs."""
