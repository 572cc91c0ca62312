"""Setting up a case on the hosts: network, store, share and mounts."""
