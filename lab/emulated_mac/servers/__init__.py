"""What stands for macOS's file servers: a module each, with ``start(kernel) -> Daemon``."""
