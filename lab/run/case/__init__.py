"""What stands on the hosts for a case: network, store, share and mounts."""
