"""The file servers of Linux that stand for macOS's: a module each, with ``start(kernel) -> Daemon`` and its script."""
