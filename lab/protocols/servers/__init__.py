"""What servers of several protocols share: of Linux kernels, of macOS, and files that need no flush."""
