"""A fleet: many sweeps on many pairs of hosts, by a queue that is a folder and a scheduler that exists."""
