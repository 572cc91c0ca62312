"""A run, from start to folder: session, transfer, what was observed, restore."""
