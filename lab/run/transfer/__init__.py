"""One transfer: payload, clock, check, and what the hosts counted."""
