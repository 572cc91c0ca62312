"""`lab init` looks for hosts and shares, asks six questions, and writes a hosts file."""
