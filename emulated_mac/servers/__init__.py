"""Linux's file servers that stand for macOS's: one module each, with ``start(kernel) -> Daemon`` and its script."""
