"""What comes before the first case: the hosts are looked at, and what cannot be is refused."""
