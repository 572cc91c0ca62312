"""What mounts of several protocols share: of Linux kernels, of macOS, of GVfs."""
